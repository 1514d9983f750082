/// Optimizers: how a parameter follows from its gradient. Each replica keeps the state of its own slice.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "convoy/model/parameter.h"
#include "convoy/ops/elementwise.h"
#include "convoy/params/choices.h"

namespace convoy {

struct OptimizerParams;

/// The values that all updates of a step share.
struct UpdateStep {
  double learning_rate = 0;
  double gradient_factor = 1;  ///< gradients are multiplied by it first
  std::int64_t number = 1;     ///< number of updates made, this one included
};

/// `count` values of one kind somewhere in a shard; if the optimizer needs norms, all of one tensor.
struct UpdateArguments {
  float* gradient = nullptr;  ///< find_directions() overwrites it
  float* weight = nullptr;
  void* weight_copy = nullptr;  ///< in the network's type; null if that is float32
  std::vector<float*>& state;   ///< one pointer per slot, in the order of slot_names()
  ParameterRole role = ParameterRole::kWeight;
  double rate_factor = 1;          ///< multiplies the step's learning rate
  double gradient_square_sum = 0;  ///< over the whole tensor, if the optimizer needs norms; or of the directions
  double weight_square_sum = 0;
  std::int64_t count = 0;
};

class Optimizer {
 public:
  virtual ~Optimizer() = default;

  /// Names of the values that are kept for each parameter between steps; checkpoints have /optimizer/<slot>/<name>. All
  /// start as zeros.
  virtual std::vector<std::string> slot_names() const = 0;
  /// Called before the updates of a step.
  virtual void begin_step(const UpdateStep& step) = 0;
  /// Replaces the gradient by the direction of the step. Called before update() if norms of directions are needed. Each
  /// value's direction depends on that value alone.
  virtual void find_directions(const UpdateArguments& args);
  /// Updates the weights. Each value's result depends only on that value and its tensor's norms.
  virtual void update(const UpdateArguments& args) = 0;
};

/// Number of slots that an optimizer of this kind keeps, and how often its update reads or writes memory for each
/// value.
std::int64_t num_optimizer_slots(OptimizerKind kind);
std::int64_t memory_accesses_per_update(OptimizerKind kind);

/// The norms of a tensor that its update needs, in addition to those of the weights.
enum class TensorNorms { kNone, kOfGradients, kOfDirections };
TensorNorms tensor_norms(OptimizerKind kind);

/// Whether parameters of different roles are updated differently.
bool tells_roles(const OptimizerParams& params);

/// Makes an optimizer. `copy_type` is the type of the copies of the weights.
std::unique_ptr<Optimizer> make_optimizer(const OptimizerParams& params, DataType copy_type,
                                          ops::ElementwiseOps& elementwise);

}  // namespace convoy
