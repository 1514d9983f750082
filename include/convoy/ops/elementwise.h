/// The contract of element-wise operations over whole arenas or activations: sums, the update, moving averages.
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
  float gradient_factor = 1;                ///< g is multiplied by it first: 1 / the loss's scale, a power of two
  DataType copy_type = DataType::kFloat32;  ///< of SgdArguments::weight_copy
};

struct SgdArguments {
  const float* gradient = nullptr;
  float* momentum = nullptr;
  float* weight = nullptr;
  void* weight_copy = nullptr;  ///< takes the new weight rounded to copy_type, in the same pass; null for none
  std::int64_t count = 0;
};

struct AdamSpec {
  float gradient_factor = 1;  ///< g is multiplied by it first
  float weight_decay = 0;     ///< added to the gradient (Adam)
  float weight_factor = 1;    ///< what the weight is multiplied by first: 1 - lr * decay (AdamW)
  float beta1 = 0.9f, one_minus_beta1 = 0.1f;
  float beta2 = 0.999f, one_minus_beta2 = 0.001f;
  float step_size = 0;        ///< lr / (1 - beta1^t)
  float root_correction = 1;  ///< sqrt(1 - beta2^t)
  float epsilon = 1e-8f;
  DataType copy_type = DataType::kFloat32;  ///< of AdamArguments::weight_copy
};

struct AdamArguments {
  const float* gradient = nullptr;
  float* mean = nullptr;    ///< of gradients, moving
  float* square = nullptr;  ///< of their squares
  float* weight = nullptr;
  void* weight_copy = nullptr;  ///< takes the new weight rounded to copy_type, in the same pass; null for none
  std::int64_t count = 0;
};

struct AdamDirectionArguments {
  float* gradient = nullptr;  ///< becomes the direction
  float* mean = nullptr;      ///< as in AdamArguments
  float* square = nullptr;
  const float* weight = nullptr;
  std::int64_t count = 0;
};

struct DescentArguments {
  const float* direction = nullptr;
  float* weight = nullptr;
  void* weight_copy = nullptr;  ///< takes the new weight rounded, in the same pass; null for none
  std::int64_t count = 0;
};

/// Values whose squares are summed by themselves.
struct SumPiece {
  std::int64_t begin = 0;
  std::int64_t count = 0;  ///< at most kSumBlock
};

inline constexpr std::int64_t kSumLeaf = 16;                      ///< values
inline constexpr std::int64_t kSumLeaves = 32;                    ///< of a block
inline constexpr std::int64_t kSumBlock = kSumLeaf * kSumLeaves;  ///< values

/// The sum of kCount addends, a power of two: each level adds the upper half to the lower one. Overwrites them.
template <std::int64_t kCount>
constexpr double halving_sum(double* addends) {
  for (std::int64_t half = kCount / 2; half > 0; half /= 2)
    for (std::int64_t i = 0; i < half; ++i) addends[i] += addends[i + half];
  return addends[0];
}

/// Each value's result depends only on that value, bit for bit: neither on where a range begins or ends nor on the
/// number of threads (no contraction that the vector loop has and its remainder has not). Slices rely on it.
class ElementwiseOps {
 public:
  virtual ~ElementwiseOps() = default;

  /// sum = a + b in float32, rounded to `type`; sum may be a or b.
  virtual void add(DataType type, const void* a, const void* b, void* sum, std::int64_t count) = 0;

  /// sum = the sum of all blocks, as a binary tree that is split at the largest power of two below the number of
  /// blocks; sum may be blocks[0]. At least one block.
  virtual void fold(std::span<const float* const> blocks, float* sum, std::int64_t count) = 0;

  /// to = from, bit for bit; they do not overlap. `from` may be in a HostBuffer.
  virtual void copy(const void* from, void* to, std::int64_t size_bytes) = 0;

  /// to = from, rounded to `type` (to nearest, ties to even).
  virtual void round_to(DataType type, const float* from, void* to, std::int64_t count) = 0;

  /// *found = 1 where any value is an infinity or NaN, and is left alone where none is. `found` is in a HostBuffer.
  virtual void find_non_finite(const float* values, std::int64_t count, std::int32_t* found) = 0;

  /// *sum += a number that stands for these bytes, modulo 2^64: the sum of mix(i, word i) over the 32-bit words i from
  /// 0, the last one filled up with zeros (src/ops/checksum_math.h). It differs where a single word differs, and the
  /// same bytes have the same on every device. `data` is at a multiple of 4 bytes, `sum` in a HostBuffer.
  virtual void add_checksum(const void* data, std::int64_t size_bytes, std::uint64_t* sum) = 0;

  /// torch.optim.SGD:  g *= gradient_factor;  g += weight_decay * w;  v = momentum * v + g;
  ///                   w -= lr * (nesterov ? g + momentum * v : v)
  /// v starts as zeros. Each line in float32, rounded after every operation.
  virtual void sgd(const SgdSpec& spec, const SgdArguments& args) = 0;

  /// torch.optim.Adam and AdamW:  w *= weight_factor;  g *= gradient_factor;  g += weight_decay * w
  ///                              m = beta1 * m + (1 - beta1) * g;  v = beta2 * v + (1 - beta2) * g * g
  ///                              w -= step_size * m / (sqrt(v) / root_correction + epsilon)
  /// m and v start as zeros. Each line in float32, from left to right (g * g first), rounded after every operation.
  virtual void adam(const AdamSpec& spec, const AdamArguments& args) = 0;

  /// LAMB's direction, in place of the gradient:  g *= gradient_factor;  m and v as adam() has them
  ///   g = step_size * m / (sqrt(v) / root_correction + epsilon) + weight_decay * w
  /// Rounded as adam() does; weight_factor and copy_type play no part.
  virtual void adam_direction(const AdamSpec& spec, const AdamDirectionArguments& args) = 0;

  /// w -= rate * direction; each of the two operations is rounded. The copy is of `copy_type`.
  virtual void descend(float rate, DataType copy_type, const DescentArguments& args) = 0;

  /// sums[k] = the squares of the values of pieces[k], in double: halving_sum of the squares of each leaf of 16
  /// neighbours, then halving_sum of the 32 leaves; what is missing at the end is zeros. Squares are exact, so one
  /// block's sum follows from its leaves' sums, whoever computed them. `pieces` is device memory, `sums` in a
  /// HostBuffer.
  virtual void sum_squares(const float* values, const SumPiece* pieces, std::int64_t num_pieces, double* sums) = 0;

  /// running = keep * running + (1 - keep) * scale * sum
  virtual void moving_average(float keep, float scale, const float* sum, float* running, std::int64_t count) = 0;
};

}  // namespace convoy::ops
