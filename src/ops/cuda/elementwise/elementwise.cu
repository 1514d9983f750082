/// Loops over whole arenas on the GPU, bound by memory. No product is contracted with a sum, so each value's result has
/// the bits of the CPU's, wherever its slice begins.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>

#include "convoy/base/error.h"
#include "convoy/ops/elementwise.h"

#include "ops/cuda/element.h"
#include "ops/cuda/elementwise/checksum.h"
#include "ops/cuda/launch.h"
#include "ops/cuda/resources.h"

namespace convoy::ops::cuda {

namespace {

/// Calls body.at<kWidth>(i) for i = 0, kWidth, 2 kWidth, ..., and body.at<1>(i) for the values left at the end.
/// Grid: ceil(count / kWidth / 256). Block: 256. No shared memory. Moves the values that the body loads and stores
/// once.
template <int kWidth, typename Body>
__global__ void __launch_bounds__(kThreads) for_each_pack(Body body, std::int64_t count) {
  const std::int64_t begin = my_index() * kWidth;
  if (begin + kWidth <= count) {
    body.template at<kWidth>(begin);
  } else if (kWidth > 1) {
    for (std::int64_t i = begin; i < count; ++i) body.template at<1>(i);
  }
}

/// Whether `width` values from `pointer` on may be moved by one access.
template <typename T>
bool aligned(const T* pointer, int width) {
  return reinterpret_cast<std::uintptr_t>(pointer) % (static_cast<std::size_t>(width) * sizeof(T)) == 0;
}

/// Runs the body on kWidth values at a time if all pointers are aligned for that, else on one by one.
template <int kWidth, typename Body, typename... Pointers>
void run_each(cudaStream_t stream, const Body& body, std::int64_t count, Pointers... pointers) {
  if (count == 0) return;
  const bool wide = (aligned(pointers, kWidth) && ...);
  launch(wide ? for_each_pack<kWidth, Body> : for_each_pack<1, Body>, shape_for(ceil_div(count, wide ? kWidth : 1)),
         stream, body, count);
}

template <typename T>
struct Add {
  const T *a, *b;
  T* sum;

  template <int kWidth>
  __device__ void at(std::int64_t i) const {
    float x[kWidth], y[kWidth];
    load(a + i, x);
    load(b + i, y);
#pragma unroll
    for (int k = 0; k < kWidth; ++k) x[k] = __fadd_rn(x[k], y[k]);
    store(x, sum + i);
  }
};

template <typename T>
struct RoundTo {
  const float* from;
  T* to;

  template <int kWidth>
  __device__ void at(std::int64_t i) const {
    float x[kWidth];
    load(from + i, x);
    store(x, to + i);
  }
};

struct FindNonFinite {
  const float* values;
  std::int32_t* found;

  template <int kWidth>
  __device__ void at(std::int64_t i) const {
    float x[kWidth];
    load(values + i, x);
    bool any = false;
#pragma unroll
    for (int k = 0; k < kWidth; ++k) any |= !isfinite(x[k]);
    if (any) *found = 1;  // all threads that write it write the same
  }
};

template <typename T>
struct Sgd {
  SgdSpec spec;
  const float* gradient;
  float *momentum, *weight;
  T* weight_copy;

  template <int kWidth>
  __device__ void at(std::int64_t i) const {
    float g[kWidth], v[kWidth], w[kWidth];
    load(gradient + i, g);
    load(momentum + i, v);
    load(weight + i, w);
#pragma unroll
    for (int k = 0; k < kWidth; ++k) {
      g[k] = __fadd_rn(__fmul_rn(spec.gradient_factor, g[k]), __fmul_rn(spec.weight_decay, w[k]));
      v[k] = __fadd_rn(__fmul_rn(spec.momentum, v[k]), g[k]);
      const float direction = spec.nesterov ? __fadd_rn(g[k], __fmul_rn(spec.momentum, v[k])) : v[k];
      w[k] = __fsub_rn(w[k], __fmul_rn(spec.lr, direction));
    }
    store(v, momentum + i);
    store(w, weight + i);
    if (weight_copy != nullptr) store(w, weight_copy + i);
  }
};

/// Updates the moving averages by the gradient. Returns the number to be subtracted from the weight.
__device__ inline float adam_step(const AdamSpec& spec, float gradient, float& mean, float& square) {
  mean = __fadd_rn(__fmul_rn(spec.beta1, mean), __fmul_rn(spec.one_minus_beta1, gradient));
  square = __fadd_rn(__fmul_rn(spec.beta2, square), __fmul_rn(spec.one_minus_beta2, __fmul_rn(gradient, gradient)));
  const float root = __fadd_rn(__fdiv_rn(__fsqrt_rn(square), spec.root_correction), spec.epsilon);
  return __fdiv_rn(__fmul_rn(spec.step_size, mean), root);
}

template <typename T>
struct Adam {
  AdamSpec spec;
  const float* gradient;
  float *mean, *square, *weight;
  T* weight_copy;

  template <int kWidth>
  __device__ void at(std::int64_t i) const {
    float g[kWidth], m[kWidth], v[kWidth], w[kWidth];
    load(gradient + i, g);
    load(mean + i, m);
    load(square + i, v);
    load(weight + i, w);
#pragma unroll
    for (int k = 0; k < kWidth; ++k) {
      w[k] = __fmul_rn(spec.weight_factor, w[k]);
      g[k] = __fadd_rn(__fmul_rn(spec.gradient_factor, g[k]), __fmul_rn(spec.weight_decay, w[k]));
      w[k] = __fsub_rn(w[k], adam_step(spec, g[k], m[k], v[k]));
    }
    store(m, mean + i);
    store(v, square + i);
    store(w, weight + i);
    if (weight_copy != nullptr) store(w, weight_copy + i);
  }
};

struct AdamDirection {
  AdamSpec spec;
  float *gradient, *mean, *square;
  const float* weight;

  template <int kWidth>
  __device__ void at(std::int64_t i) const {
    float g[kWidth], m[kWidth], v[kWidth], w[kWidth];
    load(gradient + i, g);
    load(mean + i, m);
    load(square + i, v);
    load(weight + i, w);
#pragma unroll
    for (int k = 0; k < kWidth; ++k) {
      const float step = adam_step(spec, __fmul_rn(spec.gradient_factor, g[k]), m[k], v[k]);
      g[k] = __fadd_rn(step, __fmul_rn(spec.weight_decay, w[k]));
    }
    store(g, gradient + i);
    store(m, mean + i);
    store(v, square + i);
  }
};

template <typename T>
struct Descend {
  float rate;
  const float* direction;
  float* weight;
  T* weight_copy;

  template <int kWidth>
  __device__ void at(std::int64_t i) const {
    float d[kWidth], w[kWidth];
    load(direction + i, d);
    load(weight + i, w);
#pragma unroll
    for (int k = 0; k < kWidth; ++k) w[k] = __fsub_rn(w[k], __fmul_rn(rate, d[k]));
    store(w, weight + i);
    if (weight_copy != nullptr) store(w, weight_copy + i);
  }
};

constexpr int kWarp = 32;
constexpr int kLeafLevels = std::bit_width(static_cast<unsigned>(kSumLeaf)) - 1;  // of halving_sum in a leaf

/// A warp for each piece, a lane for each leaf. Then lanes add each other's sums, the upper half to the lower one.
/// Reads each value once; writes one sum per piece. Grid: ceil(num_pieces / 8). Block: 256. No shared memory.
__global__ void __launch_bounds__(kThreads)
    sum_squares_of_pieces(const float* values, const SumPiece* pieces, std::int64_t num_pieces, double* sums) {
  static_assert(kSumLeaves == kWarp);
  const std::int64_t index = my_index() / kWarp;
  if (index >= num_pieces) return;  // the whole warp
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const SumPiece piece = pieces[index];
  const std::int64_t begin = lane * kSumLeaf;
  double squares[kSumLeaf];
#pragma unroll
  for (int i = 0; i < kSumLeaf; ++i) {
    const auto value = begin + i < piece.count ? static_cast<double>(values[piece.begin + begin + i]) : 0.0;
    squares[i] = __dmul_rn(value, value);
  }
#pragma unroll
  for (int level = kLeafLevels - 1; level >= 0; --level) {
    const int half = 1 << level;
#pragma unroll
    for (int i = 0; i < kSumLeaf / 2; ++i) {
      if (i < half) squares[i] = __dadd_rn(squares[i], squares[i + half]);
    }
  }
  double sum = squares[0];
#pragma unroll
  for (unsigned half = kWarp / 2; half > 0; half /= 2) sum = __dadd_rn(sum, __shfl_down_sync(~0u, sum, half));
  if (lane == 0) sums[index] = sum;
}

struct MovingAverage {
  float keep, take;
  const float* sum;
  float* running;

  template <int kWidth>
  __device__ void at(std::int64_t i) const {
    float x[kWidth], y[kWidth];
    load(running + i, x);
    load(sum + i, y);
#pragma unroll
    for (int k = 0; k < kWidth; ++k) x[k] = __fadd_rn(__fmul_rn(keep, x[k]), __fmul_rn(take, y[k]));
    store(x, running + i);
  }
};

constexpr int kTreeBlocks = 16;           // blocks that one tree folds whose form is known at compile time
constexpr std::size_t kMaxBlocks = 1024;  // a kernel's arguments hold no more than 4000 pointers

/// Computes the sum of blocks [begin, begin + kSize), of which those below num_blocks exist. A tree that is split at
/// powers of two is a full one with branches missing at its right: to = left + right if there is a right branch.
template <int kSize, bool kFull, int kWidth>
__device__ inline void sum_tree(const float* const* blocks, int begin, int num_blocks, std::int64_t i,
                                float (&to)[kWidth]) {
  if constexpr (kSize == 1) {
    load(blocks[begin] + i, to);
  } else {
    sum_tree<kSize / 2, kFull>(blocks, begin, num_blocks, i, to);
    if (!kFull && begin + kSize / 2 >= num_blocks) return;
    float right[kWidth];
    sum_tree<kSize / 2, kFull>(blocks, begin + kSize / 2, num_blocks, i, right);
#pragma unroll
    for (int k = 0; k < kWidth; ++k) to[k] = __fadd_rn(to[k], right[k]);
  }
}

/// A fold of at most kSize blocks. kFull: there are exactly kSize blocks, so that no load waits for a branch.
template <int kSize, bool kFull>
struct FoldFew {
  const float* blocks[kSize];
  int num_blocks;
  float* sum;

  template <int kWidth>
  __device__ void at(std::int64_t i) const {
    float total[kWidth];
    sum_tree<kSize, kFull>(blocks, 0, num_blocks, i, total);
    store(total, sum + i);
  }
};

/// A fold of many blocks by a binary counter of sums of 2^level trees: after n trees it contains one sum for each bit
/// that is set in n.
struct FoldMany {
  static constexpr int kLevels = std::bit_width(kMaxBlocks / kTreeBlocks);

  const float* blocks[kMaxBlocks];
  int num_blocks;
  float* sum;

  template <int kWidth>
  __device__ void at(std::int64_t i) const {
    const int num_trees = (num_blocks + kTreeBlocks - 1) / kTreeBlocks;
    float levels[kLevels][kWidth], total[kWidth];
    for (int tree = 0; tree < num_trees; ++tree) {
      sum_tree<kTreeBlocks, false>(blocks, tree * kTreeBlocks, num_blocks, i, total);
      bool carry = true;
#pragma unroll
      for (int level = 0; level < kLevels; ++level) {
#pragma unroll
        for (int k = 0; k < kWidth; ++k) {
          const float other = levels[level][k];
          if (carry && (tree >> level & 1) == 0) levels[level][k] = total[k];
          if (carry) total[k] = __fadd_rn(other, total[k]);
        }
        carry = carry && (tree >> level & 1) != 0;
      }
    }
    bool any = false;
#pragma unroll
    for (int level = 0; level < kLevels; ++level) {
      if ((num_trees >> level & 1) == 0) continue;
#pragma unroll
      for (int k = 0; k < kWidth; ++k) {
        total[k] = any ? __fadd_rn(levels[level][k], total[k]) : levels[level][k];
      }
      any = true;
    }
    store(total, sum + i);
  }
};

class CudaElementwise final : public ElementwiseOps {
 public:
  explicit CudaElementwise(Context& context) : context_(context), checksum_(context) {}

  void add(DataType type, const void* a, const void* b, void* sum, std::int64_t count) override {
    with_type(type, [&]<typename T>(T*) {
      const Add<T> body{static_cast<const T*>(a), static_cast<const T*>(b), static_cast<T*>(sum)};
      run_each<kWidest<T>>(context_.stream(), body, count, body.a, body.b, body.sum);
    });
  }

  void fold(std::span<const float* const> blocks, float* sum, std::int64_t count) override {
    if (blocks.empty() || blocks.size() > kMaxBlocks) {
      fail("a sum of {} blocks: this device adds up 1 to {}", blocks.size(), kMaxBlocks);
    }
    if (blocks.size() > kTreeBlocks) {
      fold_as(FoldMany{}, blocks, sum, count);
    } else {
      fold_few<1>(blocks, sum, count);
    }
  }

  void copy(const void* from, void* to, std::int64_t size_bytes) override {
    CONVOY_CHECK_CUDA(
        cudaMemcpyAsync(to, from, static_cast<std::size_t>(size_bytes), cudaMemcpyDefault, context_.stream()));
  }

  void round_to(DataType type, const float* from, void* to, std::int64_t count) override {
    with_type(type, [&]<typename T>(T*) {
      const RoundTo<T> body{from, static_cast<T*>(to)};
      run_each<4>(context_.stream(), body, count, body.from, body.to);
    });
  }

  void find_non_finite(const float* values, std::int64_t count, std::int32_t* found) override {
    run_each<4>(context_.stream(), FindNonFinite{values, found}, count, values);
  }

  void add_checksum(const void* data, std::int64_t size_bytes, std::uint64_t* sum) override {
    checksum_.add(data, size_bytes, sum);
  }

  void sgd(const SgdSpec& spec, const SgdArguments& args) override {
    with_type(spec.copy_type, [&]<typename T>(T*) {
      const Sgd<T> body{spec, args.gradient, args.momentum, args.weight, static_cast<T*>(args.weight_copy)};
      run_each<4>(context_.stream(), body, args.count, body.gradient, body.momentum, body.weight, body.weight_copy);
    });
  }

  void adam(const AdamSpec& spec, const AdamArguments& args) override {
    with_type(spec.copy_type, [&]<typename T>(T*) {
      const Adam<T> body{spec, args.gradient, args.mean, args.square, args.weight, static_cast<T*>(args.weight_copy)};
      run_each<4>(context_.stream(), body, args.count, body.gradient, body.mean, body.square, body.weight,
                  body.weight_copy);
    });
  }

  void adam_direction(const AdamSpec& spec, const AdamDirectionArguments& args) override {
    const AdamDirection body{spec, args.gradient, args.mean, args.square, args.weight};
    run_each<4>(context_.stream(), body, args.count, body.gradient, body.mean, body.square, body.weight);
  }

  void descend(float rate, DataType copy_type, const DescentArguments& args) override {
    with_type(copy_type, [&]<typename T>(T*) {
      const Descend<T> body{rate, args.direction, args.weight, static_cast<T*>(args.weight_copy)};
      run_each<4>(context_.stream(), body, args.count, body.direction, body.weight, body.weight_copy);
    });
  }

  void sum_squares(const float* values, const SumPiece* pieces, std::int64_t num_pieces, double* sums) override {
    if (num_pieces == 0) return;
    launch(sum_squares_of_pieces, shape_for(num_pieces * kWarp), context_.stream(), values, pieces, num_pieces, sums);
  }

  void moving_average(float keep, float scale, const float* sum, float* running, std::int64_t count) override {
    run_each<4>(context_.stream(), MovingAverage{keep, (1.0f - keep) * scale, sum, running}, count, sum, running);
  }

 private:
  /// Folds blocks by the smallest tree that is large enough.
  template <int kSize>
  void fold_few(std::span<const float* const> blocks, float* sum, std::int64_t count) const {
    if (blocks.size() == kSize) return fold_as(FoldFew<kSize, true>{}, blocks, sum, count);
    if (blocks.size() < kSize) return fold_as(FoldFew<kSize, false>{}, blocks, sum, count);
    if constexpr (kSize < kTreeBlocks) fold_few<kSize * 2>(blocks, sum, count);
  }

  template <typename Body>
  void fold_as(Body body, std::span<const float* const> blocks, float* sum, std::int64_t count) const {
    std::ranges::copy(blocks, body.blocks);
    body.num_blocks = static_cast<int>(blocks.size());
    body.sum = sum;
    const bool wide = std::ranges::all_of(blocks, [](const float* block) { return aligned(block, 4); });
    if (wide) {
      run_each<4>(context_.stream(), body, count, sum);
    } else {
      run_each<1>(context_.stream(), body, count, sum);
    }
  }

  const Context& context_;
  Checksum checksum_;
};

}  // namespace

std::unique_ptr<ElementwiseOps> make_elementwise(Context& context) {
  return std::make_unique<CudaElementwise>(context);
}

}  // namespace convoy::ops::cuda
