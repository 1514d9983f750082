/// Optimizers, which compute new weights from gradients. Each replica of a stage keeps the optimizer state of its own
/// slices only.
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
  /// Factor of all gradients before the update: 1 / the loss scale, times the factor of clipping.
  double gradient_factor = 1;
  std::int64_t number = 1;  ///< number of updates made in the training, this one included
};

/// A run of `count` neighbouring values of this replica's slice of a bucket, which are updated by the same rule. If the
/// optimizer needs norms, they belong to one tensor. All values lie in device memory.
struct UpdateArguments {
  float* gradient = nullptr;    ///< the gradient of these values; find_directions() overwrites it by the direction
  float* weight = nullptr;      ///< the float32 weights
  void* weight_copy = nullptr;  ///< takes the new weights, rounded to the network's type; null if that is float32
  /// The optimizer state of these values: one pointer per state, in the order of state_names().
  std::vector<float*>& state;
  ParameterRole role = ParameterRole::kWeight;
  double rate_factor = 1;  ///< factor of the step's learning rate for these values
  /// Sum of the squares of the whole tensor's gradient or, in update() with kOfDirections, of its direction; 0 if the
  /// optimizer needs no norms.
  double gradient_square_sum = 0;
  /// Sum of the squares of the whole tensor's weights; 0 if the optimizer needs no norms.
  double weight_square_sum = 0;
  std::int64_t count = 0;
};

/// The update rule of a training.
class Optimizer {
 public:
  virtual ~Optimizer() = default;

  /// Names of the optimizer states: the values that the optimizer keeps for each weight between steps, such as
  /// "momentum". A checkpoint stores them under /optimizer/<state>/<parameter>. All start as zeros.
  virtual std::vector<std::string> state_names() const = 0;
  /// Sets the values that all updates of a step share. Called before the first update of a step.
  virtual void begin_step(const UpdateStep& step) = 0;
  /// Overwrites gradients by the directions of the update. Called before update() if tensor_norms() is kOfDirections;
  /// other optimizers throw Error. A value's direction depends only on its own gradient, weight and state.
  virtual void find_directions(const UpdateArguments& args);
  /// Updates weights and their state. A value's result depends only on its own gradient, weight and state, and on the
  /// norms of its tensor.
  virtual void update(const UpdateArguments& args) = 0;
};

/// Number of values that an optimizer of this kind keeps for each weight between steps.
std::int64_t num_optimizer_states(OptimizerKind kind);
/// Number of values that an update by an optimizer of this kind reads from memory or writes to it, per weight. Step
/// times are predicted from it.
std::int64_t memory_accesses_per_update(OptimizerKind kind);

/// The norms of whole tensors that an optimizer's update needs: none, those of weights and gradients, or those of
/// weights and directions.
enum class TensorNorms { kNone, kOfGradients, kOfDirections };
/// Returns the norms that an optimizer of this kind needs.
TensorNorms tensor_norms(OptimizerKind kind);

/// Whether the optimizer treats parameters of different ParameterRole differently, for example in weight decay.
bool tells_roles(const OptimizerParams& params);

/// Makes an optimizer. `copy_type` is the type of UpdateArguments::weight_copy. `elementwise` must outlive the
/// optimizer.
std::unique_ptr<Optimizer> make_optimizer(const OptimizerParams& params, DataType copy_type,
                                          ops::ElementwiseOps& elementwise);

}  // namespace convoy
