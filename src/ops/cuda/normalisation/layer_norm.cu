/// Layer and RMS normalisation on a GPU: bound by memory. A team computes a row; tiles of columns compute the sums over
/// rows.
#include <algorithm>
#include <memory>

#include "convoy/ops/layer_norm.h"

#include "ops/cuda/linear/linear_kernels.h"
#include "ops/cuda/normalisation/group_norm.h"
#include "ops/cuda/normalisation/layer_norm_rows.h"
#include "ops/cuda/resources.h"

namespace convoy::ops::cuda {

namespace {

// --- Forward -----------------------------------------------------------------------------------------------------

template <typename T>
struct ForwardArgs {
  const T* x;
  const float *gamma, *beta;  ///< beta is null if the rows are not centred
  T* y;
  float *mean, *inv_std;  ///< mean is null if the rows are not centred
  RowTeams teams;
  float epsilon;
};

/// Grid: RowTeams::shape. No shared memory. Reads x, writes y, once each; sums in float32.
template <typename T, int kWidth, int kPacks>
__global__ void __launch_bounds__(kTeamThreads) normalise_rows(ForwardArgs<T> args) {
  const RowTeams& teams = args.teams;
  const std::int64_t my_row = teams.my_row();
  const bool has_row = my_row < teams.num_rows;
  const std::int64_t row = has_row ? my_row : teams.num_rows - 1;  // lanes without a row only help to add
  const LaneOfRow<T, kWidth, kPacks> x(teams, args.x + row * teams.width);
  const float inverse_width = __fdiv_rn(1.0f, static_cast<float>(teams.width));
  float mean = 0;
  if (args.mean != nullptr) {
    float sum = 0;
    teams.for_my_packs<kPacks, kWidth>([&](int k, int column) {
      float v[kWidth];
      x.get(k, column, v);
#pragma unroll
      for (int i = 0; i < kWidth; ++i) sum += v[i];
    });
    mean = teams.sum(sum) * inverse_width;
  }
  float squares = 0;
  teams.for_my_packs<kPacks, kWidth>([&](int k, int column) {
    float v[kWidth];
    x.get(k, column, v);
#pragma unroll
    for (int i = 0; i < kWidth; ++i) squares = __fmaf_rn(v[i] - mean, v[i] - mean, squares);
  });
  const float inv_std = __fdiv_rn(1.0f, __fsqrt_rn(teams.sum(squares) * inverse_width + args.epsilon));
  if (!has_row) return;
  if (teams.my_lane() == 0) {
    if (args.mean != nullptr) args.mean[row] = mean;
    args.inv_std[row] = inv_std;
  }
  teams.for_my_packs<kPacks, kWidth>([&](int k, int column) {
    float v[kWidth], gamma[kWidth], beta[kWidth] = {};
    x.get(k, column, v);
    load<kWidth>(args.gamma + column, gamma);
    if (args.beta != nullptr) load<kWidth>(args.beta + column, beta);
#pragma unroll
    for (int i = 0; i < kWidth; ++i) v[i] = __fmaf_rn((v[i] - mean) * inv_std, gamma[i], beta[i]);
    store<kWidth>(v, args.y + row * teams.width + column);
  });
}

// --- Backward ----------------------------------------------------------------------------------------------------

template <typename T>
struct BackwardArgs {
  const T *dy, *x;
  const float *gamma, *mean, *inv_std;  ///< mean is null if the rows are not centred
  T* dx;                                ///< may be dy
  const T* addend;                      ///< may be dx; with kAdds
  RowTeams teams;
};

constexpr int kMaxKeptGradients = 16;  // of a lane, in addition to as many values of x: more take too many registers

/// dx = inv_std (g - mean_C(g) - h mean_C(g h)) [+ addend],  g = gamma dy,  h = (x - mean) inv_std.
/// Grid: RowTeams::shape. No shared memory. Reads dy, x and (kAdds) addend, writes dx, once each.
template <typename T, int kWidth, int kPacks, bool kAdds>
__global__ void __launch_bounds__(kTeamThreads) compute_input_gradients(BackwardArgs<T> args) {
  const RowTeams& teams = args.teams;
  const std::int64_t my_row = teams.my_row();
  const bool has_row = my_row < teams.num_rows;
  const std::int64_t row = has_row ? my_row : teams.num_rows - 1;
  const LaneOfRow<T, kWidth, kPacks> dy(teams, args.dy + row * teams.width), x(teams, args.x + row * teams.width);
  const float mean = args.mean == nullptr ? 0 : args.mean[row], inv_std = args.inv_std[row];
  float g_sum = 0, gh_sum = 0;
  teams.for_my_packs<kPacks, kWidth>([&](int k, int column) {
    float g[kWidth], h[kWidth], gamma[kWidth];
    dy.get(k, column, g);
    x.get(k, column, h);
    load<kWidth>(args.gamma + column, gamma);
#pragma unroll
    for (int i = 0; i < kWidth; ++i) {
      g[i] *= gamma[i];
      g_sum += g[i];
      gh_sum = __fmaf_rn(g[i], (h[i] - mean) * inv_std, gh_sum);
    }
  });
  const float inverse_width = __fdiv_rn(1.0f, static_cast<float>(teams.width));
  const float mean_g = args.mean == nullptr ? 0 : teams.sum(g_sum) * inverse_width;
  const float mean_gh = teams.sum(gh_sum) * inverse_width;
  if (!has_row) return;
  teams.for_my_packs<kPacks, kWidth>([&](int k, int column) {
    T* const to = args.dx + row * teams.width + column;
    float g[kWidth], h[kWidth], gamma[kWidth];
    dy.get(k, column, g);
    x.get(k, column, h);
    load<kWidth>(args.gamma + column, gamma);
    [[maybe_unused]] float before[kWidth];
    if constexpr (kAdds) load<kWidth>(args.addend + row * teams.width + column, before);
#pragma unroll
    for (int i = 0; i < kWidth; ++i) {
      const float centred = __fmaf_rn(g[i], gamma[i], -mean_g);
      g[i] = inv_std * __fmaf_rn((h[i] - mean) * -inv_std, mean_gh, centred);
      if constexpr (kAdds) g[i] += before[i];
    }
    store<kWidth>(g, to);
  });
}

constexpr int kSumThreads = 256;
constexpr int kMaxSumWidth = 32;  // threads side by side: a warp reads neighbours
constexpr int kRowsOfThread = 4;  // all read at once

/// The division of the sums over rows: blocks of blockDim.x packs of columns and blockDim.y * kRowsOfThread rows.
struct SumGrid {
  SumGrid(const LayerNormSpec& spec, int pack_width)
      : width(std::min(std::bit_ceil(static_cast<unsigned>(spec.width / pack_width)), unsigned{kMaxSumWidth})),
        height(kSumThreads / width),
        tiles(static_cast<unsigned>(ceil_div(spec.width, std::int64_t{width} * pack_width))),
        blocks(static_cast<unsigned>(ceil_div(spec.num_rows, std::int64_t{height} * kRowsOfThread))) {}

  unsigned width, height, tiles, blocks;
};

template <typename T>
struct SumArgs {
  const T *dy, *x;
  const float *mean, *inv_std;  ///< mean is null if the rows are not centred
  float *dgamma, *dbeta;        ///< (blocks, C) partial sums
  std::int64_t num_rows;
  int width;
};

/// Computes dgamma and dbeta of a block's rows, in float32: each thread adds its rows in order, then the threads of a
/// column are added from top to bottom. Reads dy and x once. Grid: blocks x tiles of SumGrid. Shared: at most 16 KiB.
template <typename T, int kWidth>
__global__ void __launch_bounds__(kSumThreads) sum_parameter_gradients(SumArgs<T> args) {
  alignas(32) __shared__ float gammas[kSumThreads * kWidth], betas[kSumThreads * kWidth];
  const int column = static_cast<int>(blockIdx.y * blockDim.x + threadIdx.x) * kWidth;
  const std::int64_t first = std::int64_t{blockIdx.x} * blockDim.y * kRowsOfThread + threadIdx.y;
  float dgamma[kWidth] = {}, dbeta[kWidth] = {};
  if (column < args.width) {
#pragma unroll
    for (int r = 0; r < kRowsOfThread; ++r) {
      const std::int64_t row = first + r * static_cast<int>(blockDim.y);
      if (row >= args.num_rows) continue;
      const float mean = args.mean == nullptr ? 0 : args.mean[row], inv_std = args.inv_std[row];
      float dy[kWidth], x[kWidth];
      load<kWidth>(args.dy + row * args.width + column, dy);
      load<kWidth>(args.x + row * args.width + column, x);
#pragma unroll
      for (int i = 0; i < kWidth; ++i) {
        dgamma[i] = __fmaf_rn(dy[i], (x[i] - mean) * inv_std, dgamma[i]);
        dbeta[i] += dy[i];
      }
    }
  }
  const int me = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x), tile = static_cast<int>(blockDim.x) * kWidth;
  store<kWidth>(dgamma, gammas + me * kWidth);
  store<kWidth>(dbeta, betas + me * kWidth);
  __syncthreads();
  const int summed = static_cast<int>(blockIdx.y) * tile + me;
  if (me >= tile || summed >= args.width) return;
  float gamma_sum = 0, beta_sum = 0;
  for (int y = 0; y < static_cast<int>(blockDim.y); ++y) {
    gamma_sum += gammas[y * tile + me];
    beta_sum += betas[y * tile + me];
  }
  args.dgamma[std::int64_t{blockIdx.x} * args.width + summed] = gamma_sum;
  args.dbeta[std::int64_t{blockIdx.x} * args.width + summed] = beta_sum;
}

template <typename T, int kWidth>
class CudaLayerNorm final : public LayerNormOp {
 public:
  CudaLayerNorm(const LayerNormSpec& spec, Context& context)
      : spec_(spec), teams_(spec.num_rows, spec.width, kWidth), sums_(spec, kWidth), context_(context) {
    context.reserve_scratch(2 * partial_count() * kFloatBytes + column_sum_scratch_bytes(partial_spec()));
  }

  void forward(const LayerNormForward& args) override {
    const ForwardArgs<T> rows{static_cast<const T*>(args.x),
                              args.gamma,
                              args.beta,
                              static_cast<T*>(args.y),
                              args.mean,
                              args.inv_std,
                              teams_,
                              spec_.epsilon};
    with_packs<T, kWidth, 4>(teams_, [&]<int kPacks>(Width<kPacks>) {
      launch(normalise_rows<T, kWidth, kPacks>, teams_.shape(), context_.stream(), rows);
    });
  }

  // The sums come first, since dx may be dy. The second pass finds the values that they read, or some, in the L2 cache.
  void backward(const LayerNormBackward& args) override {
    if (args.dgamma != nullptr) sum_gradients(args);
    const BackwardArgs<T> rows{
        static_cast<const T*>(args.dy), static_cast<const T*>(args.x),      args.gamma, args.mean, args.inv_std,
        static_cast<T*>(args.dx),       static_cast<const T*>(args.addend), teams_};
    constexpr int kMaxPacks = kMaxKeptGradients / kWidth;
    with_packs<T, kWidth, kMaxPacks>(teams_, [&]<int kPacks>(Width<kPacks>) {
      const auto kernel = args.addend != nullptr ? compute_input_gradients<T, kWidth, kPacks, true>
                                                 : compute_input_gradients<T, kWidth, kPacks, false>;
      launch(kernel, teams_.shape(), context_.stream(), rows);
    });
  }

 private:
  std::int64_t partial_count() const { return sums_.blocks * spec_.width; }
  ColumnSumSpec partial_spec() const { return {sums_.blocks, spec_.width, DataType::kFloat32}; }

  void sum_gradients(const LayerNormBackward& args) const {
    auto* dgamma = reinterpret_cast<float*>(context_.scratch());
    float* dbeta = dgamma + partial_count();
    const SumArgs<T> rows{static_cast<const T*>(args.dy),
                          static_cast<const T*>(args.x),
                          args.mean,
                          args.inv_std,
                          dgamma,
                          dbeta,
                          spec_.num_rows,
                          static_cast<int>(spec_.width)};
    const LaunchShape shape{{sums_.blocks, sums_.tiles, 1}, {sums_.width, sums_.height, 1}};
    launch(sum_parameter_gradients<T, kWidth>, shape, context_.stream(), rows);
    float* scratch = dbeta + partial_count();
    column_sum(partial_spec(), {.matrix = dgamma, .sums = args.dgamma, .scratch = scratch}, context_);
    if (args.dbeta != nullptr)
      column_sum(partial_spec(), {.matrix = dbeta, .sums = args.dbeta, .scratch = scratch}, context_);
  }

  LayerNormSpec spec_;
  RowTeams teams_;
  SumGrid sums_;
  Context& context_;
};

}  // namespace

template <>
std::unique_ptr<LayerNormOp> make_op(const LayerNormSpec& spec, const Resources& resources) {
  if (!spec.has_one_group()) return make_group_norm(spec, resources);
  return make_wide<CudaLayerNorm, LayerNormOp>(spec.width, spec, resources.context);
}

}  // namespace convoy::ops::cuda
