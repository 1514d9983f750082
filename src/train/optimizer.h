/// Optimizers: how a parameter follows from its gradient. Their state is sharded by whoever owns the slice.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "convoy/ops/elementwise.h"
#include "convoy/params/parameters.h"

namespace convoy {

/// `count` values somewhere in a shard.
struct UpdateArguments {
  const float* gradient = nullptr;
  float* weight = nullptr;
  void* weight_copy = nullptr;  ///< of the network's type, where that is not float32
  std::vector<float*>& state;   ///< one pointer a slot, in the order of slot_names()
  std::int64_t count = 0;
};

class Optimizer {
 public:
  virtual ~Optimizer() = default;

  /// Names of what is kept for each value between steps; checkpoints have /optimizer/<slot>/<name>. All start as zeros.
  virtual std::vector<std::string> slot_names() const = 0;
  /// Before the updates of a step. Gradients are multiplied by `gradient_factor` first.
  virtual void begin_step(double learning_rate, double gradient_factor) = 0;
  /// Each value's result depends on that value alone.
  virtual void update(const UpdateArguments& args) = 0;
};

/// Before there is one: how many slots it keeps.
std::int64_t num_optimizer_slots(OptimizerKind kind);

/// `copy_type`: of the copies of the weights.
std::unique_ptr<Optimizer> make_optimizer(const OptimizerParams& params, DataType copy_type,
                                          ops::ElementwiseOps& elementwise);

}  // namespace convoy
