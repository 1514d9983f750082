/// Optimizers: how a parameter follows from its gradient. Each replica keeps the state of its own slice.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "convoy/model/parameter.h"
#include "convoy/ops/elementwise.h"
#include "convoy/params/parameters.h"

namespace convoy {

/// What all updates of a step share.
struct UpdateStep {
  double learning_rate = 0;
  double gradient_factor = 1;  ///< gradients are multiplied by it first
  std::int64_t number = 1;     ///< of the updates made, this one included
};

/// `count` values of one kind somewhere in a shard; of one tensor where the optimizer needs norms.
struct UpdateArguments {
  float* gradient = nullptr;  ///< find_directions() overwrites it
  float* weight = nullptr;
  void* weight_copy = nullptr;  ///< of the network's type, where that is not float32
  std::vector<float*>& state;   ///< one pointer a slot, in the order of slot_names()
  ParameterRole role = ParameterRole::kWeight;
  double rate_factor = 1;          ///< of the step's learning rate
  double gradient_square_sum = 0;  ///< over the whole tensor, where the optimizer needs norms; or the directions'
  double weight_square_sum = 0;
  std::int64_t count = 0;
};

class Optimizer {
 public:
  virtual ~Optimizer() = default;

  /// Names of what is kept for each value between steps; checkpoints have /optimizer/<slot>/<name>. All start as zeros.
  virtual std::vector<std::string> slot_names() const = 0;
  /// Before the updates of a step.
  virtual void begin_step(const UpdateStep& step) = 0;
  /// Before update(), where norms are needed of directions: replaces the gradient by the direction of the step. Each
  /// value's direction depends on that value alone.
  virtual void find_directions(const UpdateArguments& args);
  /// Each value's result depends on that value and its tensor's norms alone.
  virtual void update(const UpdateArguments& args) = 0;
};

/// Before there is one: how many slots it keeps, and how often an update reads or writes memory for each value.
std::int64_t num_optimizer_slots(OptimizerKind kind);
std::int64_t trips_of_update(OptimizerKind kind);

/// Which norms of a tensor its update needs, with those of the weights.
enum class TensorNorms { kNone, kOfGradients, kOfDirections };
TensorNorms tensor_norms(OptimizerKind kind);

/// Whether parameters of different roles are updated differently.
bool tells_roles(const OptimizerParams& params);

/// `copy_type`: of the copies of the weights.
std::unique_ptr<Optimizer> make_optimizer(const OptimizerParams& params, DataType copy_type,
                                          ops::ElementwiseOps& elementwise);

}  // namespace convoy
