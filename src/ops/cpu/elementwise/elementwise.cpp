/// Loops over whole arenas on the CPU. Compiled without contraction to fused multiply-adds: a vector loop and the
/// scalars at its end then round alike, so a value's result does not depend on where its slice begins.
#include "convoy/ops/elementwise.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <memory>

#include "ops/checksum_math.h"
#include "ops/cpu/parallel.h"
#include "ops/cpu/resources.h"
#include "ops/cpu/simd.h"

namespace convoy::ops::cpu {

namespace {

constexpr std::int64_t kFoldCount = 1024;    // values folded at a time: a partial sum of them stays in the cache
constexpr std::int64_t kUpdateCount = 1024;  // values updated at a time: the new weights stay in it to be rounded

class CpuElementwise final : public ElementwiseOps {
 public:
  explicit CpuElementwise(const Workspace& workspace) : workspace_(workspace) {}

  void add(DataType type, const void* a_data, const void* b_data, void* sum_data, std::int64_t count) override {
    check_is_stored("a sum", type);
    with_storage(type, [&]<typename T>() {
      const T *a = values_at<T>(a_data), *b = values_at<T>(b_data);
      T* sum = values_at<T>(sum_data);
      in_parts(count, workspace_.threads(), [=](Range range) {
        add_values(a + range.begin, b + range.begin, sum + range.begin, range.end - range.begin);
      });
    });
  }

  void fold(std::span<const float* const> blocks, float* sum, std::int64_t count) override {
    in_parts(count, workspace_.threads(), [=](Range range) {
      for (std::int64_t i = range.begin; i < range.end; i += kFoldCount)
        fold_tree(blocks, i, std::min(kFoldCount, range.end - i), sum + i);
    });
  }

  void copy(const void* from, void* to, std::int64_t size_bytes) override {
    std::memcpy(to, from, static_cast<std::size_t>(size_bytes));
  }

  void round_to(DataType type, const float* from, void* to, std::int64_t count) override {
    check_is_stored("rounding", type);
    in_parts(count, workspace_.threads(), [=](Range range) { round_values(type, from, to, range); });
  }

  // x - x is +0, all of whose bits are 0, for every finite x, and NaN for all others.
  void find_non_finite(const float* values, std::int64_t count, std::int32_t* found) override {
    in_parts(count, workspace_.threads(), [=](Range range) {
      std::uint32_t bits = 0;
#pragma omp simd reduction(| : bits)
      for (std::int64_t i = range.begin; i < range.end; ++i)
        bits |= std::bit_cast<std::uint32_t>(values[i] - values[i]);
      if (bits != 0) std::atomic_ref(*found).store(1, std::memory_order_relaxed);
    });
  }

  // Sums modulo 2^64 are the same in any order.
  void add_checksum(const void* data, std::int64_t size_bytes, std::uint64_t* sum) override {
    constexpr std::int64_t kWordBytes = sizeof(std::uint32_t);
    const auto* bytes = static_cast<const unsigned char*>(data);
    const std::int64_t whole_words = size_bytes / kWordBytes;
    in_parts(whole_words, workspace_.threads(), [=](Range range) {
      std::uint64_t part = 0;
#pragma omp simd reduction(+ : part)
      for (std::int64_t i = range.begin; i < range.end; ++i) {
        std::uint32_t word = 0;
        std::memcpy(&word, bytes + i * kWordBytes, kWordBytes);
        part += checksum_of(i, word);
      }
      std::atomic_ref(*sum).fetch_add(part, std::memory_order_relaxed);
    });
    if (size_bytes % kWordBytes != 0) *sum += checksum_of(whole_words, word_at(bytes, size_bytes, whole_words));
  }

  void sgd(const SgdSpec& spec, const SgdArguments& args) override {
    update(spec.copy_type, args,
           [&spec, gradient = args.gradient, momentum = args.momentum, weight = args.weight](Range range) {
#pragma omp simd
             for (std::int64_t i = range.begin; i < range.end; ++i) {
               const float g = spec.gradient_factor * gradient[i] + spec.weight_decay * weight[i];
               const float v = spec.momentum * momentum[i] + g;
               momentum[i] = v;
               weight[i] -= spec.lr * (spec.nesterov ? g + spec.momentum * v : v);
             }
           });
  }

  void adam(const AdamSpec& spec, const AdamArguments& args) override {
    update(
        spec.copy_type, args,
        [&spec, gradient = args.gradient, mean = args.mean, square = args.square, weight = args.weight](Range range) {
#pragma omp simd
          for (std::int64_t i = range.begin; i < range.end; ++i) {
            const float w = spec.weight_factor * weight[i];
            const float g = spec.gradient_factor * gradient[i] + spec.weight_decay * w;
            weight[i] = w - adam_step(spec, g, mean[i], square[i]);
          }
        });
  }

  void adam_direction(const AdamSpec& spec, const AdamDirectionArguments& args) override {
    in_parts(
        args.count, workspace_.threads(),
        [&spec, gradient = args.gradient, mean = args.mean, square = args.square, weight = args.weight](Range range) {
#pragma omp simd
          for (std::int64_t i = range.begin; i < range.end; ++i)
            gradient[i] =
                adam_step(spec, spec.gradient_factor * gradient[i], mean[i], square[i]) + spec.weight_decay * weight[i];
        });
  }

  void descend(float rate, DataType copy_type, const DescentArguments& args) override {
    update(copy_type, args, [rate, direction = args.direction, weight = args.weight](Range range) {
#pragma omp simd
      for (std::int64_t i = range.begin; i < range.end; ++i) weight[i] -= rate * direction[i];
    });
  }

  void sum_squares(const float* values, const SumPiece* pieces, std::int64_t num_pieces, double* sums) override {
    constexpr std::int64_t kPiecesWorthThreads = kWorthThreads / kSumBlock;
    const bool alone = num_pieces < kPiecesWorthThreads || workspace_.threads() == 1;
#pragma omp parallel for schedule(static) num_threads(workspace_.threads()) if (!alone)
    for (std::int64_t k = 0; k < num_pieces; ++k) sums[k] = sum_piece(values + pieces[k].begin, pieces[k].count);
  }

  void moving_average(float keep, float scale, const float* sum, float* running, std::int64_t count) override {
    const float take = (1.0f - keep) * scale;
    in_parts(count, workspace_.threads(), [=](Range range) {
#pragma omp simd
      for (std::int64_t i = range.begin; i < range.end; ++i) running[i] = keep * running[i] + take * sum[i];
    });
  }

 private:
  // Updates the moving averages by the gradient. Returns the number to be subtracted from the weight.
  [[gnu::always_inline]] static float adam_step(const AdamSpec& spec, float gradient, float& mean, float& square) {
    const float m = spec.beta1 * mean + spec.one_minus_beta1 * gradient;
    const float v = spec.beta2 * square + spec.one_minus_beta2 * (gradient * gradient);
    mean = m;
    square = v;
    return spec.step_size * m / (std::sqrt(v) / spec.root_correction + spec.epsilon);
  }

  static double sum_piece(const float* values, std::int64_t count) {
    double leaves[kSumLeaves] = {};
    for (std::int64_t begin = 0; begin < count; begin += kSumLeaf) {
      double squares[kSumLeaf] = {};
      if (count - begin >= kSumLeaf) {
        square_values<kSumLeaf>(values + begin, kSumLeaf, squares);
      } else {
        square_values<0>(values + begin, count - begin, squares);
      }
      leaves[begin / kSumLeaf] = halving_sum<kSumLeaf>(squares);
    }
    return halving_sum<kSumLeaves>(leaves);
  }

  // kCount is `count` if that is known at compile time, else 0.
  template <std::int64_t kCount>
  static void square_values(const float* values, std::int64_t count, double* squares) {
    for (std::int64_t i = 0; i < (kCount > 0 ? kCount : count); ++i)
      squares[i] = static_cast<double>(values[i]) * static_cast<double>(values[i]);
  }

  // Calls new_weights(range) for all ranges, and copies the weights while they are in the cache.
  template <typename Arguments, typename Loop>
  void update(DataType copy_type, const Arguments& args, const Loop& new_weights) const {
    if (args.weight_copy == nullptr) return in_parts(args.count, workspace_.threads(), new_weights);
    check_is_stored("a copy of the weights", copy_type);
    in_parts(args.count, workspace_.threads(), [&](Range range) {
      for (std::int64_t begin = range.begin; begin < range.end; begin += kUpdateCount) {
        const Range part{begin, std::min(begin + kUpdateCount, range.end)};
        new_weights(part);
        round_values(copy_type, args.weight, args.weight_copy, part);
      }
    });
  }

  static void round_values(DataType type, const float* from, void* to_data, Range range) {
    with_storage(type, [&]<typename T>() {
      T* to = values_at<T>(to_data);
      for_lanes(range.begin, range.end, [=]<typename V>(std::int64_t i, V) { write(to + i, read<V>(from + i)); });
    });
  }

  template <typename T>
  static void add_values(const T* a, const T* b, T* sum, std::int64_t count) {
    for_lanes(0, count, [=]<typename V>(std::int64_t i, V) { write(sum + i, V(read<V>(a + i) + read<V>(b + i))); });
  }

  // Sums values [at, at + count) of all blocks: the sums of two halves, split at the largest power of two below the
  // number of blocks.
  static void fold_tree(std::span<const float* const> blocks, std::int64_t at, std::int64_t count, float* sum) {
    if (blocks.size() == 1) {
      if (sum != blocks[0] + at) std::copy_n(blocks[0] + at, count, sum);
      return;
    }
    const std::size_t middle = std::bit_floor(blocks.size() - 1);
    float right[kFoldCount];
    fold_tree(blocks.first(middle), at, count, sum);
    fold_tree(blocks.subspan(middle), at, count, right);
    add_values(sum, right, sum, count);
  }

  const Workspace& workspace_;
};

}  // namespace

std::unique_ptr<ElementwiseOps> make_elementwise(const Workspace& workspace) {
  return std::make_unique<CpuElementwise>(workspace);
}

}  // namespace convoy::ops::cpu
