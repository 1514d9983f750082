/// Attention on a GPU. One kernel computes each of its results, sums of weights times rows, from tiles in shared
/// memory: y and dquery with queries as its own rows, dkey and dvalue with keys. So one warp sums each result in one
/// order, at the price of computing z again for each result.
#include <algorithm>
#include <memory>
#include <numbers>

#include "convoy/ops/attention.h"

#include "ops/cuda/attention/attention_tiles.h"
#include "ops/cuda/launch.h"
#include "ops/cuda/resources.h"

namespace convoy::ops::cuda {

namespace {

constexpr float kLog2E = std::numbers::log2e_v<float>;
constexpr float kLn2 = std::numbers::ln2_v<float>;

/// The kernels' arguments, from the spec and the call.
template <typename T>
struct Arguments {
  std::int64_t length, num_heads;
  float scale, dropout_scale;
  std::uint64_t layer;
  std::uint32_t threshold;
  const DrawKey* key;           ///< null: nothing is dropped
  const std::int32_t* lengths;  ///< null: each sequence has `length` words
  const T* qkv;
  const T* dy;
  float* log_sum_exp;
  float* y_dy;  ///< (N,H,T) sum of y dy over the width

  __device__ std::int64_t words_of(std::int64_t n) const { return lengths == nullptr ? length : lengths[n]; }
};

enum class Side { kQueries, kKeys };

/// A lane's part of one row's softmax over the keys so far: the maximum, and the sum of 2^(x - max).
struct RunningSum {
  float max = -INFINITY, sum = 0;

  __device__ void add(const RunningSum& other) {
    const float larger = fmaxf(max, other.max);
    if (larger == -INFINITY) return;
    sum = sum * exp2f(max - larger) + other.sum * exp2f(other.max - larger);
    max = larger;
  }
};

/// Computes log_sum_exp. Grid: (T / kRows, H, N). A warp multiplies its 16 queries by all keys.
template <typename T, int kWidth>
__global__ void __launch_bounds__(TileShape<T, kWidth>::kThreads, TileShape<T, kWidth>::kBlocks)
    sum_exponentials(const Arguments<T> args) {
  using Shape = TileShape<T, kWidth>;
  alignas(16) __shared__ T queries[Shape::kRows][Shape::kStride];
  alignas(16) __shared__ T keys[Shape::kOthers][Shape::kStride];
  const HeadIndex at{blockIdx.z, blockIdx.y, args.num_heads, args.length};
  const std::int64_t num = args.words_of(at.n), begin = std::int64_t{blockIdx.x} * Shape::kRows;
  const int warp_row = static_cast<int>(threadIdx.x) / kWarp * kWarpRows;
  RunningSum sums[2];  // of rows group and group + 8
  if (begin < num) load_tile<T, kWidth>(head_rows<kWidth>(args.qkv, at, 3, 0), begin, num, queries);
  for (std::int64_t key = 0; begin < num && key < num; key += Shape::kOthers) {
    __syncthreads();
    load_tile<T, kWidth>(head_rows<kWidth>(args.qkv, at, 3, 1), key, num, keys);
    __syncthreads();
#pragma unroll 1
    for (int group = 0; group < Shape::kOthers; group += 16) {
      float z[2][4];
      multiply_rows<kWidth>(queries + warp_row, keys + group, z);
#pragma unroll
      for (int j = 0; j < 2; ++j) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          if (key + group + 8 * j + 2 * lane_place() + i % 2 < num) sums[i / 2].add({z[j][i] * args.scale * kLog2E, 1});
        }
      }
    }
  }
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    RunningSum& sum = sums[half];
    for (int lanes = 1; lanes < 4; lanes *= 2)
      sum.add({__shfl_xor_sync(~0u, sum.max, lanes), __shfl_xor_sync(~0u, sum.sum, lanes)});
    const std::int64_t row = begin + warp_row + lane_group() + 8 * half;
    if (lane_place() == 0 && row < args.length)
      args.log_sum_exp[at.head() * args.length + row] = row < num ? sum.max * kLn2 + logf(sum.sum) : 0.0f;
  }
}

/// Computes y_dy. Grid: (T / warps of a block, H, N). One warp for each row.
template <typename T, int kWidth>
__global__ void __launch_bounds__(256) multiply_y_and_dy(const Arguments<T> args, const T* y) {
  const HeadIndex at{blockIdx.z, blockIdx.y, args.num_heads, args.length};
  const std::int64_t row = std::int64_t{blockIdx.x} * (256 / kWarp) + threadIdx.x / kWarp;
  if (row >= args.length) return;
  float sum = 0;
  if (row < args.words_of(at.n)) {
    const T *a = head_rows<kWidth>(y, at, 1, 0).row(row), *b = head_rows<kWidth>(args.dy, at, 1, 0).row(row);
    for (int d = static_cast<int>(threadIdx.x) % kWarp; d < kWidth; d += kWarp)
      sum = __fmaf_rn(to_float(a[d]), to_float(b[d]), sum);
  }
  for (int lanes = kWarp / 2; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(~0u, sum, lanes);
  if (threadIdx.x % kWarp == 0) args.y_dy[at.head() * args.length + row] = sum;
}

/// Computes for each own row the sum over the other side of weights times rows:
///   own rows  weight  times   gives
///   queries   m p     value   y
///   keys      m p     dy      dvalue
///   queries   dz      key     dquery
///   keys      dz      query   dkey
/// Grid: (T / kRows * chunks of columns, H, N). dp = own_dp other_dp^T needs value and dy, z query and key.
template <typename T, int kWidth, Side kOwn, bool kOfDz>
__global__ void __launch_bounds__(TileShape<T, kWidth>::kThreads, TileShape<T, kWidth>::kBlocks)
    sum_weighted_rows(const Arguments<T> args, T* out) {
  using Shape = TileShape<T, kWidth>;
  constexpr bool kOwnQueries = kOwn == Side::kQueries;
  using Kept = KeptWeights<kOwnQueries ? Shape::kRows : Shape::kOthers, kOwnQueries ? Shape::kOthers : Shape::kRows>;
  alignas(16) __shared__ T own_z[Shape::kRows][Shape::kStride];
  alignas(16) __shared__ T own_dp[kOfDz ? Shape::kRows : 1][Shape::kStride];
  alignas(16) __shared__ T other_z[Shape::kOthers][Shape::kStride];
  alignas(16) __shared__ T other_dp[Shape::kOthers][Shape::kStride];
  __shared__ float log_sum_exp[Kept::kNumQueries], y_dy[Kept::kNumQueries];
  __shared__ Kept kept;

  const HeadIndex at{blockIdx.z, blockIdx.y, args.num_heads, args.length};
  const std::int64_t num = args.words_of(at.n), begin = std::int64_t{blockIdx.x / Shape::kChunks} * Shape::kRows;
  const int warp_row = static_cast<int>(threadIdx.x) / kWarp * kWarpRows;
  const int chunk = static_cast<int>(blockIdx.x % Shape::kChunks) * Shape::kColumns;
  const auto part_of_qkv = [&](int part) { return head_rows<kWidth>(args.qkv, at, 3, part); };
  const auto dy_or = [&](bool dy) { return dy ? head_rows<kWidth>(args.dy, at, 1, 0) : part_of_qkv(2); };
  const auto load_queries = [&](std::int64_t first) {
    for (int i = static_cast<int>(threadIdx.x); i < Kept::kNumQueries; i += Shape::kThreads) {
      const bool there = first + i < num;
      log_sum_exp[i] = there ? args.log_sum_exp[at.head() * args.length + first + i] * kLog2E : 0.0f;
      if constexpr (kOfDz) y_dy[i] = there ? args.y_dy[at.head() * args.length + first + i] : 0.0f;
    }
  };

  float sums[Shape::kColumns / 8][4] = {};
  if (begin < num) {
    load_tile<T, kWidth>(part_of_qkv(kOwnQueries ? 0 : 1), begin, num, own_z);
    if constexpr (kOfDz) load_tile<T, kWidth>(dy_or(kOwnQueries), begin, num, own_dp);
    if constexpr (kOwnQueries) load_queries(begin);
  }
  for (std::int64_t other = 0; begin < num && other < num; other += Shape::kOthers) {
    const std::int64_t query0 = kOwnQueries ? begin : other, key0 = kOwnQueries ? other : begin;
    const std::int64_t first_draw = (at.head() * args.length + query0) * args.length + key0;
    __syncthreads();
    load_tile<T, kWidth>(part_of_qkv(kOwnQueries ? 1 : 0), other, num, other_z);
    load_tile<T, kWidth>(dy_or(!kOwnQueries), other, num, other_dp);
    if constexpr (!kOwnQueries) load_queries(other);
    if (args.key != nullptr) kept.draw(*args.key, args.layer, args.threshold, first_draw, args.length);
    __syncthreads();
#pragma unroll 1
    for (int group = 0; group < Shape::kOthers; group += 16) {
      float z[2][4], dp[2][4];
      multiply_rows<kWidth>(own_z + warp_row, other_z + group, z);
      if constexpr (kOfDz) multiply_rows<kWidth>(own_dp + warp_row, other_dp + group, dp);
#pragma unroll
      for (int j = 0; j < 2; ++j) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const int own_row = warp_row + lane_group() + 8 * (i / 2),
                    other_row = group + 8 * j + 2 * lane_place() + i % 2;
          const int query = kOwnQueries ? own_row : other_row, key = kOwnQueries ? other_row : own_row;
          const bool there = begin + own_row < num && other + other_row < num;
          const bool is_kept = args.key == nullptr || kept.at(query, key);
          const float p = there ? exp2f(z[j][i] * args.scale * kLog2E - log_sum_exp[query]) : 0.0f;
          if constexpr (kOfDz) {
            z[j][i] = p * ((is_kept ? args.dropout_scale * dp[j][i] : 0.0f) - y_dy[query]);
          } else {
            z[j][i] = is_kept ? p : 0.0f;
          }
        }
      }
      Pair<T> weights[4];
#pragma unroll
      for (int i = 0; i < 4; ++i)
        weights[i] = {from_float<T>(z[i / 2][i % 2 * 2]), from_float<T>(z[i / 2][i % 2 * 2 + 1])};
#pragma unroll
      for (int column = 0; column < Shape::kColumns; column += 8)
        multiply_columns(weights, (kOfDz ? other_z : other_dp) + group, chunk + column + lane_group(),
                         sums[column / 8]);
    }
  }

  const HeadRows<T> result = kOwnQueries && !kOfDz ? head_rows<kWidth>(out, at, 1, 0)
                                                   : head_rows<kWidth>(out, at, 3, kOfDz ? (kOwnQueries ? 0 : 1) : 2);
  const float factor = kOfDz ? args.scale : args.dropout_scale;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const std::int64_t row = begin + warp_row + lane_group() + 8 * i;
    if (row >= args.length) continue;
#pragma unroll
    for (int column = 0; column < Shape::kColumns; column += 8) {
      const float(&sum)[4] = sums[column / 8];
      const float pair[2] = {factor * sum[2 * i], factor * sum[2 * i + 1]};
      store<2>(pair, result.row(row) + chunk + column + 2 * lane_place());
    }
  }
}

template <typename T, int kWidth>
class CudaAttention final : public AttentionOp {
  using Shape = TileShape<T, kWidth>;

 public:
  CudaAttention(const AttentionSpec& spec, Context& context) : spec_(spec), context_(context) {
    context_.reserve_scratch(spec.n * spec.num_heads * spec.length * static_cast<std::int64_t>(sizeof(float)));
  }

  void forward(const AttentionForward& args) override {
    Arguments<T> a = arguments(args.qkv, args.lengths, args.key);
    a.log_sum_exp = args.log_sum_exp;
    launch(sum_exponentials<T, kWidth>, shape(Shape::kRows, 1, Shape::kThreads), context_.stream(), a);
    sum_rows<Side::kQueries, false>(a, args.y);
  }

  void backward(const AttentionBackward& args) override {
    Arguments<T> a = arguments(args.qkv, args.lengths, args.key);
    a.dy = static_cast<const T*>(args.dy);
    a.log_sum_exp = const_cast<float*>(args.log_sum_exp);
    a.y_dy = reinterpret_cast<float*>(context_.scratch());
    launch(multiply_y_and_dy<T, kWidth>, shape(256 / kWarp, 1, 256), context_.stream(), a,
           static_cast<const T*>(args.y));
    sum_rows<Side::kQueries, true>(a, args.dqkv);
    sum_rows<Side::kKeys, true>(a, args.dqkv);
    sum_rows<Side::kKeys, false>(a, args.dqkv);
  }

 private:
  Arguments<T> arguments(const void* qkv, const std::int32_t* lengths, const DrawKey* key) const {
    Arguments<T> a{};
    a.length = spec_.length;
    a.num_heads = spec_.num_heads;
    a.scale = spec_.scale();
    a.key = spec_.dropout > 0 ? key : nullptr;
    a.dropout_scale = a.key == nullptr ? 1.0f : spec_.dropout_scale();
    a.layer = spec_.layer;
    a.threshold = spec_.dropout_threshold();
    a.lengths = lengths;
    a.qkv = static_cast<const T*>(qkv);
    return a;
  }
  LaunchShape shape(std::int64_t rows, std::int64_t chunks, unsigned threads) const {
    const dim3 grid(static_cast<unsigned>(ceil_div(spec_.length, rows) * chunks),
                    static_cast<unsigned>(spec_.num_heads), static_cast<unsigned>(spec_.n));
    return {grid, dim3(threads)};
  }
  template <Side kOwn, bool kOfDz>
  void sum_rows(const Arguments<T>& args, void* out) {
    launch(sum_weighted_rows<T, kWidth, kOwn, kOfDz>, shape(Shape::kRows, Shape::kChunks, Shape::kThreads),
           context_.stream(), args, static_cast<T*>(out));
  }

  AttentionSpec spec_;
  Context& context_;
};

template <int kWidth>
std::unique_ptr<AttentionOp> make_of_width(const AttentionSpec& spec, Context& context) {
  std::unique_ptr<AttentionOp> op;
  with_type(spec.type, [&]<typename T>(T*) { op = std::make_unique<CudaAttention<T, kWidth>>(spec, context); });
  return op;
}

}  // namespace

template <>
std::unique_ptr<AttentionOp> make_op(const AttentionSpec& spec, const Resources& resources) {
  switch (spec.head_width) {
    case 16:
      return make_of_width<16>(spec, resources.context);
    case 32:
      return make_of_width<32>(spec, resources.context);
    case 64:
      return make_of_width<64>(spec, resources.context);
    default:
      return make_of_width<128>(spec, resources.context);
  }
}

}  // namespace convoy::ops::cuda
