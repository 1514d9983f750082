/// Group normalisation on a GPU: a block computes a group of columns of a row, for all pixels. After the first pass
/// over a group, its values usually are in the caches.
#include <algorithm>
#include <bit>

#include "ops/cuda/element.h"
#include "ops/cuda/launch.h"
#include "ops/cuda/linear/linear_kernels.h"
#include "ops/cuda/normalisation/group_norm.h"

namespace convoy::ops::cuda {

namespace {

/// The groups of all rows: block b has group b % num_groups of row b / num_groups.
struct Groups {
  explicit Groups(const LayerNormSpec& spec)
      : num_pixels(spec.num_pixels),
        width(static_cast<int>(spec.width)),
        num_groups(static_cast<int>(spec.num_groups)),
        columns(static_cast<int>(spec.width / spec.num_groups)) {}

  std::int64_t num_pixels;
  int width, num_groups;
  int columns;  ///< number of columns of a group

  __device__ int my_first_column() const { return static_cast<int>(blockIdx.x) % num_groups * columns; }
  __device__ std::int64_t my_row() const { return static_cast<int>(blockIdx.x) / num_groups; }
  __device__ float inverse_count() const { return __fdiv_rn(1.0f, static_cast<float>(num_pixels * columns)); }

  /// Calls body(i, c) for the values of the block's group that the thread computes: value i of x, in column c.
  template <typename Body>
  __device__ void for_my_values(Body&& body) const {
    const int pixel_step = kThreads / columns, column_step = kThreads % columns;
    std::int64_t pixel = static_cast<int>(threadIdx.x) / columns;
    int column = static_cast<int>(threadIdx.x) % columns;
    while (pixel < num_pixels) {
      const int c = my_first_column() + column;
      body((my_row() * num_pixels + pixel) * width + c, c);
      pixel += pixel_step;
      column += column_step;
      if (column >= columns) {
        column -= columns;
        ++pixel;
      }
    }
  }
};

/// Returns the sum over the block's threads, in each of them: a binary tree.
__device__ float sum_of_block(float mine) {
  __shared__ float sums[kThreads];
  __syncthreads();  // all threads have read the sum before
  sums[threadIdx.x] = mine;
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
  }
  __syncthreads();
  return sums[0];
}

template <typename T>
struct ForwardArgs {
  const T* x;
  const float *gamma, *beta;
  T* y;  ///< may be x
  float *mean, *inv_std;
  Groups groups;
  float epsilon;
};

/// Grid: a block for each group of each row. Shared: 1 KiB. Reads x three times and writes y once.
template <typename T>
__global__ void __launch_bounds__(kThreads) normalise_groups(ForwardArgs<T> args) {
  const Groups& groups = args.groups;
  float sum = 0;
  groups.for_my_values([&](std::int64_t i, int) { sum += to_float(args.x[i]); });
  const float mean = sum_of_block(sum) * groups.inverse_count();
  float squares = 0;
  groups.for_my_values([&](std::int64_t i, int) {
    const float centred = to_float(args.x[i]) - mean;
    squares = __fmaf_rn(centred, centred, squares);
  });
  const float variance = sum_of_block(squares) * groups.inverse_count();
  const float inv_std = __fdiv_rn(1.0f, __fsqrt_rn(variance + args.epsilon));
  if (threadIdx.x == 0) {
    args.mean[blockIdx.x] = mean;
    args.inv_std[blockIdx.x] = inv_std;
  }
  groups.for_my_values([&](std::int64_t i, int c) {
    args.y[i] = from_float<T>(__fmaf_rn((to_float(args.x[i]) - mean) * inv_std, args.gamma[c], args.beta[c]));
  });
}

template <typename T>
struct BackwardArgs {
  const T *dy, *x;
  const float *gamma, *mean, *inv_std;
  T* dx;                  ///< may be dy
  const T* addend;        ///< may be dx; null: nothing is added
  float *dgamma, *dbeta;  ///< (R,C): sums over the pixels of each row
  Groups groups;
  int tile;  ///< number of columns that a block sums at a time, a power of two
};

constexpr int kMaxTile = 32;  // a warp reads neighbours

/// Computes the sums over the pixels of dy h and dy for the columns of the group, and writes them. Returns the thread's
/// part of the group's sums of g h and g, g = gamma dy. The columns of a tile are threads side by side; a binary tree
/// adds the sums of a column's threads.
template <typename T>
__device__ float2 sum_columns(const BackwardArgs<T>& args, float mean, float inv_std) {
  __shared__ float dgammas[kThreads], dbetas[kThreads];
  const Groups& groups = args.groups;
  const int me = static_cast<int>(threadIdx.x), tile = args.tile, lanes = kThreads / tile;
  float gh = 0, g = 0;
  for (int first = 0; first < groups.columns; first += tile) {
    const int column = first + me % tile, c = groups.my_first_column() + column;
    float dgamma = 0, dbeta = 0;
    if (column < groups.columns) {
      for (std::int64_t pixel = me / tile; pixel < groups.num_pixels; pixel += lanes) {
        const std::int64_t i = (groups.my_row() * groups.num_pixels + pixel) * groups.width + c;
        const float dy = to_float(args.dy[i]);
        dgamma = __fmaf_rn(dy, (to_float(args.x[i]) - mean) * inv_std, dgamma);
        dbeta += dy;
      }
    }
    __syncthreads();  // the sums of the tile before have been read
    dgammas[me] = dgamma;
    dbetas[me] = dbeta;
    for (int half = lanes / 2; half > 0; half /= 2) {
      __syncthreads();
      if (me < half * tile) {
        dgammas[me] += dgammas[me + half * tile];
        dbetas[me] += dbetas[me + half * tile];
      }
    }
    if (me >= tile || column >= groups.columns) continue;
    args.dgamma[groups.my_row() * groups.width + c] = dgammas[me];
    args.dbeta[groups.my_row() * groups.width + c] = dbetas[me];
    gh = __fmaf_rn(args.gamma[c], dgammas[me], gh);
    g = __fmaf_rn(args.gamma[c], dbetas[me], g);
  }
  return make_float2(gh, g);
}

/// dx = inv_std (g - mean(g) - h mean(g h)) [+ addend],  g = gamma dy,  h = (x - mean) inv_std.
/// Grid: a block for each group of each row. Shared: 3 KiB. Reads dy and x twice and writes dx once.
template <typename T>
__global__ void __launch_bounds__(kThreads) differentiate_groups(BackwardArgs<T> args) {
  const Groups& groups = args.groups;
  const float mean = args.mean[blockIdx.x], inv_std = args.inv_std[blockIdx.x];
  const float2 sums = sum_columns(args, mean, inv_std);
  const float mean_gh = sum_of_block(sums.x) * groups.inverse_count();
  const float mean_g = sum_of_block(sums.y) * groups.inverse_count();
  groups.for_my_values([&](std::int64_t i, int c) {
    const float centred = __fmaf_rn(to_float(args.dy[i]), args.gamma[c], -mean_g);
    const float slope = inv_std * __fmaf_rn((to_float(args.x[i]) - mean) * -inv_std, mean_gh, centred);
    args.dx[i] = from_float<T>(args.addend == nullptr ? slope : slope + to_float(args.addend[i]));
  });
}

template <typename T>
class CudaGroupNorm final : public LayerNormOp {
 public:
  CudaGroupNorm(const LayerNormSpec& spec, Context& context) : spec_(spec), groups_(spec), context_(context) {
    context.reserve_scratch(2 * partial_count() * kFloatBytes + column_sum_scratch_bytes(partial_spec()));
  }

  void forward(const LayerNormForward& args) override {
    launch(normalise_groups<T>, shape(), context_.stream(),
           ForwardArgs<T>{static_cast<const T*>(args.x), args.gamma, args.beta, static_cast<T*>(args.y), args.mean,
                          args.inv_std, groups_, spec_.epsilon});
  }

  void backward(const LayerNormBackward& args) override {
    auto* const dgamma = reinterpret_cast<float*>(context_.scratch());
    float *const dbeta = dgamma + partial_count(), *const scratch = dbeta + partial_count();
    const int tile = std::min(static_cast<int>(std::bit_ceil(static_cast<unsigned>(groups_.columns))), kMaxTile);
    launch(differentiate_groups<T>, shape(), context_.stream(),
           BackwardArgs<T>{static_cast<const T*>(args.dy), static_cast<const T*>(args.x), args.gamma, args.mean,
                           args.inv_std, static_cast<T*>(args.dx), static_cast<const T*>(args.addend), dgamma, dbeta,
                           groups_, tile});
    if (args.dgamma == nullptr) return;
    column_sum(partial_spec(), {.matrix = dgamma, .sums = args.dgamma, .scratch = scratch}, context_);
    column_sum(partial_spec(), {.matrix = dbeta, .sums = args.dbeta, .scratch = scratch}, context_);
  }

 private:
  LaunchShape shape() const { return {{static_cast<unsigned>(spec_.num_statistics())}, {kThreads}}; }
  std::int64_t partial_count() const { return spec_.num_rows * spec_.width; }
  ColumnSumSpec partial_spec() const { return {.num_rows = spec_.num_rows, .num_columns = spec_.width}; }

  LayerNormSpec spec_;
  Groups groups_;
  Context& context_;
};

}  // namespace

std::unique_ptr<LayerNormOp> make_group_norm(const LayerNormSpec& spec, const Resources& resources) {
  std::unique_ptr<LayerNormOp> op;
  with_type(spec.type, [&]<typename T>(T*) { op = std::make_unique<CudaGroupNorm<T>>(spec, resources.context); });
  return op;
}

}  // namespace convoy::ops::cuda
