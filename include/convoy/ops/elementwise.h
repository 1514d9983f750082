/// The contract of what runs over whole arenas or activations, value by value: sums, the update, moving averages.
#pragma once

#include <cstdint>

namespace convoy::ops {

struct SgdSpec {
  float lr = 0;
  float momentum = 0;
  float weight_decay = 0;
  bool nesterov = false;
};

/// Each value's result depends on that value alone, bit for bit: neither on where a range begins or ends nor on the
/// number of threads (no contraction that the vector loop has and its remainder has not). Slices rely on it.
class ElementwiseOps {
 public:
  virtual ~ElementwiseOps() = default;

  /// sum = a + b; sum may be a or b.
  virtual void add(const float* a, const float* b, float* sum, std::int64_t count) = 0;

  /// to = from.
  virtual void copy(const float* from, float* to, std::int64_t count) = 0;

  /// torch.optim.SGD:  g += weight_decay * w;  v = momentum * v + g;  w -= lr * (nesterov ? g + momentum * v : v)
  /// v starts as zeros. Each line in float32, rounded after every operation.
  virtual void sgd(const SgdSpec& spec, const float* gradient, float* momentum, float* weight, std::int64_t count) = 0;

  /// running = keep * running + (1 - keep) * scale * sum
  virtual void moving_average(float keep, float scale, const float* sum, float* running, std::int64_t count) = 0;
};

}  // namespace convoy::ops
