/// The contract of what runs over whole arenas or activations, value by value: sums, the update, moving averages.
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

/// Each value's result depends on that value alone, bit for bit: neither on where a range begins or ends nor on the
/// number of threads (no contraction that the vector loop has and its remainder has not). Slices rely on it.
class ElementwiseOps {
 public:
  virtual ~ElementwiseOps() = default;

  /// sum = a + b in float32, rounded to `type`; sum may be a or b.
  virtual void add(DataType type, const void* a, const void* b, void* sum, std::int64_t count) = 0;

  /// sum = the sum of all blocks, as a binary tree that is split at the largest power of two below the number of
  /// blocks; sum may be blocks[0]. At least one block.
  virtual void fold(std::span<const float* const> blocks, float* sum, std::int64_t count) = 0;

  /// to = from, rounded to `type` (to nearest, ties to even).
  virtual void round_to(DataType type, const float* from, void* to, std::int64_t count) = 0;

  /// *found = 1 where any value is an infinity or NaN, and is left alone where none is. `found` is in a HostBuffer.
  virtual void find_non_finite(const float* values, std::int64_t count, std::int32_t* found) = 0;

  /// torch.optim.SGD:  g *= gradient_factor;  g += weight_decay * w;  v = momentum * v + g;
  ///                   w -= lr * (nesterov ? g + momentum * v : v)
  /// v starts as zeros. Each line in float32, rounded after every operation.
  virtual void sgd(const SgdSpec& spec, const SgdArguments& args) = 0;

  /// running = keep * running + (1 - keep) * scale * sum
  virtual void moving_average(float keep, float scale, const float* sum, float* running, std::int64_t count) = 0;
};

}  // namespace convoy::ops
