/// The contract of element-wise operations over all parameters, gradients or activations: sums, updates of weights,
/// moving averages.
#pragma once

#include <cstdint>
#include <span>

#include "convoy/base/data_type.h"

namespace convoy::ops {

struct SgdSpec {
  float lr = 0;
  float momentum = 0;
  float weight_decay = 0;
  bool nesterov = false;
  float gradient_factor = 1;  ///< factor of the gradient, applied first: 1 / the loss scale, a power of two
  DataType copy_type = DataType::kFloat32;  ///< storage type of SgdArguments::weight_copy
};

struct SgdArguments {
  const float* gradient = nullptr;
  float* momentum = nullptr;
  float* weight = nullptr;
  /// Overwritten, in the same pass, by the new weights rounded to copy_type; null: no copy.
  void* weight_copy = nullptr;
  std::int64_t count = 0;
};

struct AdamSpec {
  float gradient_factor = 1;  ///< factor of the gradient, applied first: 1 / the loss scale, a power of two
  float weight_decay = 0;     ///< weight_decay * w is added to the gradient (Adam) or to the direction (LAMB)
  float weight_factor = 1;    ///< factor of the weight, applied first: 1 - lr * decay (AdamW)
  float beta1 = 0.9f, one_minus_beta1 = 0.1f;
  float beta2 = 0.999f, one_minus_beta2 = 0.001f;
  float step_size = 0;        ///< lr / (1 - beta1^t) in step t = 1, 2, ...
  float root_correction = 1;  ///< sqrt(1 - beta2^t) in step t = 1, 2, ...
  float epsilon = 1e-8f;
  DataType copy_type = DataType::kFloat32;  ///< storage type of AdamArguments::weight_copy
};

struct AdamArguments {
  const float* gradient = nullptr;
  float* mean = nullptr;    ///< moving averages of the gradients
  float* square = nullptr;  ///< moving averages of the squares of the gradients
  float* weight = nullptr;
  /// Overwritten, in the same pass, by the new weights rounded to copy_type; null: no copy.
  void* weight_copy = nullptr;
  std::int64_t count = 0;
};

struct AdamDirectionArguments {
  float* gradient = nullptr;  ///< the gradient, which is overwritten by LAMB's direction
  float* mean = nullptr;      ///< moving averages of the gradients
  float* square = nullptr;    ///< moving averages of the squares of the gradients
  const float* weight = nullptr;
  std::int64_t count = 0;
};

struct DescentArguments {
  const float* direction = nullptr;
  float* weight = nullptr;
  /// Overwritten, in the same pass, by the new weights rounded to copy_type; null: no copy.
  void* weight_copy = nullptr;
  std::int64_t count = 0;
};

/// A range of neighbouring values; ElementwiseOps::sum_squares() computes one sum of squares for each range.
struct SumPiece {
  std::int64_t begin = 0;
  std::int64_t count = 0;  ///< at most kSumBlock
};

/// Number of neighbouring values that sum_squares() adds first: a leaf of its tree.
inline constexpr std::int64_t kSumLeaf = 16;
inline constexpr std::int64_t kSumLeaves = 32;  ///< number of leaves in a block, the largest range of sum_squares()
inline constexpr std::int64_t kSumBlock = kSumLeaf * kSumLeaves;  ///< number of values in a block of sum_squares()

/// Returns the sum of kCount addends; kCount is a power of two. Each level of the tree adds the upper half of the
/// addends to the lower half. Overwrites the addends.
template <std::int64_t kCount>
constexpr double halving_sum(double* addends) {
  for (std::int64_t half = kCount / 2; half > 0; half /= 2)
    for (std::int64_t i = 0; i < half; ++i) addends[i] += addends[i + half];
  return addends[0];
}

/// Element-wise operations. The bits of a result depend on the operands alone, not on the range that the call covers,
/// nor on the number of threads: a vector loop and its scalar remainder round alike. So ranks may divide an array into
/// slices in any way.
class ElementwiseOps {
 public:
  virtual ~ElementwiseOps() = default;

  /// Computes sum = a + b in float32, rounded to `type`. sum may be a or b.
  virtual void add(DataType type, const void* a, const void* b, void* sum, std::int64_t count) = 0;

  /// Adds up several arrays of `count` values element by element, in the order of a binary tree that is split at the
  /// largest power of two below the number of arrays. There is at least one array. `sum` may be blocks[0].
  virtual void fold(std::span<const float* const> blocks, float* sum, std::int64_t count) = 0;

  /// Copies `size_bytes` bytes from `from` to `to`, which do not overlap. `from` may be in a HostBuffer.
  virtual void copy(const void* from, void* to, std::int64_t size_bytes) = 0;

  /// Writes `from` to `to`, rounded to `type` (to nearest, ties to even).
  virtual void round_to(DataType type, const float* from, void* to, std::int64_t count) = 0;

  /// Sets *found to 1 if any value is an infinity or NaN; otherwise does not change it. `found` is in a HostBuffer.
  virtual void find_non_finite(const float* values, std::int64_t count, std::int32_t* found) = 0;

  /// Adds the checksum of `data` to *sum, modulo 2^64. The checksum is the sum of checksum_of(i, value i) over the
  /// 32-bit values i = 0, 1, ... of `data`, of which the last is filled up with zero bytes (src/ops/checksum_math.h).
  /// It changes if a single value changes, and is the same on every device. `data` is aligned to 4 bytes, `sum` is in a
  /// HostBuffer.
  virtual void add_checksum(const void* data, std::int64_t size_bytes, std::uint64_t* sum) = 0;

  /// Updates weights as torch.optim.SGD does:
  ///   g *= gradient_factor;  g += weight_decay * w;  v = momentum * v + g;
  ///   w -= lr * (nesterov ? g + momentum * v : v)
  /// v is args.momentum, zeros before the first step. Everything is computed in float32 and rounded after every
  /// operation.
  virtual void sgd(const SgdSpec& spec, const SgdArguments& args) = 0;

  /// Updates weights as torch.optim.Adam and AdamW do:
  ///   w *= weight_factor;  g *= gradient_factor;  g += weight_decay * w
  ///   m = beta1 * m + (1 - beta1) * g;  v = beta2 * v + (1 - beta2) * g * g
  ///   w -= step_size * m / (sqrt(v) / root_correction + epsilon)
  /// m is args.mean and v is args.square, zeros before the first step. Each line is computed in float32 from left to
  /// right (g * g first) and rounded after every operation.
  virtual void adam(const AdamSpec& spec, const AdamArguments& args) = 0;

  /// Overwrites the gradient by LAMB's direction:  g *= gradient_factor;  m and v are updated as in adam();
  ///   g = step_size * m / (sqrt(v) / root_correction + epsilon) + weight_decay * w
  /// Rounds as adam() does. Does not read weight_factor and copy_type.
  virtual void adam_direction(const AdamSpec& spec, const AdamDirectionArguments& args) = 0;

  /// Updates weights: w -= rate * direction. Each of the two operations is rounded. args.weight_copy has type
  /// `copy_type`.
  virtual void descend(float rate, DataType copy_type, const DescentArguments& args) = 0;

  /// Writes the sum of the squares of the values of pieces[k] to sums[k], in double: halving_sum of the squares of each
  /// leaf of 16 neighbours, then halving_sum of the 32 leaves. If a piece is shorter than a block, the missing values
  /// count as zeros. Squares are exact, so the sum of a block follows from the sums of its leaves, even if different
  /// devices computed them. `pieces` is device memory, `sums` is in a HostBuffer.
  virtual void sum_squares(const float* values, const SumPiece* pieces, std::int64_t num_pieces, double* sums) = 0;

  /// Updates moving averages: running = keep * running + (1 - keep) * scale * sum
  virtual void moving_average(float keep, float scale, const float* sum, float* running, std::int64_t count) = 0;
};

}  // namespace convoy::ops
