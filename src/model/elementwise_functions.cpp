/// The layer functions that keep the shape of their input: norms, sums and activations.

#include "convoy/base/error.h"

#include "model/layer_function_parts.h"
#include "model/layers/activation.h"
#include "model/layers/batch_norm.h"
#include "model/layers/dropout.h"
#include "model/layers/layer_norm.h"
#include "model/layers/layer_scale.h"
#include "model/layers/sum.h"

namespace convoy {

namespace {

using Kind = ArgumentSpec::Kind;

ArgumentSpec share(const std::string& name, const std::string& about) {
  return {.name = name, .kind = Kind::kNumber, .is_required = true, .about = about, .min = 0, .max = 1};
}

void check_same_shape(const Value& a, const Value& b) {
  if (a.shape() != b.shape())
    refuse("the shapes {} and {} (height x width x channels) differ", sides(a.shape()), sides(b.shape()));
}

}  // namespace

std::vector<LayerFunction> elementwise_functions() {
  return {
      {.name = "batch_norm",
       .about = "batch normalisation of each channel. Parameters: NAME.weight, NAME.bias, NAME.running_mean and "
                "NAME.running_var (C)",
       .has_name = true,
       .add = [](const LayerArguments& call) { return batch_norm(call.name(), call.x()); }},
      {.name = "layer_norm",
       .about = "layer normalisation over the channels. Parameters: NAME.weight and NAME.bias (C)",
       .has_name = true,
       .arguments = {number("epsilon", 1e-5, "added to the variance", 1e-12, 1)},
       .add =
           [](const LayerArguments& call) {
             return layer_norm(call.name(), call.x(), static_cast<float>(call.number("epsilon")));
           }},
      {.name = "layer_scale",
       .about = "multiplies each channel by a trained factor. Parameter: NAME (C,1,1)",
       .has_name = true,
       .arguments =
           {{.name = "initial", .kind = Kind::kNumber, .is_required = true, .about = "initial value of all factors"}},
       .add = [](const LayerArguments& call) { return layer_scale(call.name(), call.x(), call.number("initial")); }},
      {.name = "add",
       .about = "sum of two values of the same shape; also written a + b",
       .min_inputs = 2,
       .max_inputs = 2,
       .add =
           [](const LayerArguments& call) {
             check_same_shape(call.inputs()[0], call.inputs()[1]);
             return call.inputs()[0] + call.inputs()[1];
           }},
      {.name = "relu", .about = "max(0, x)", .add = [](const LayerArguments& call) { return relu(call.x()); }},
      {.name = "gelu",
       .about = "x Phi(x), with Phi of the normal distribution",
       .add = [](const LayerArguments& call) { return activate(ops::Activation::kGelu, call.x()); }},
      {.name = "gelu_tanh",
       .about = "approximation of gelu by tanh",
       .add = [](const LayerArguments& call) { return activate(ops::Activation::kGeluTanh, call.x()); }},
      {.name = "tanh",
       .about = "hyperbolic tangent",
       .add = [](const LayerArguments& call) { return activate(ops::Activation::kTanh, call.x()); }},
      {.name = "dropout",
       .about = "in training, sets each value to 0 with this probability and divides the others by the rest",
       .arguments = {share("share", "probability; 0 adds no layer")},
       .add = [](const LayerArguments& call) { return dropout(call.x(), call.number("share")); }},
      {.name = "stochastic_depth",
       .about =
           "in training, sets all values of a sample to 0 with this probability and divides the others by the rest",
       .arguments = {share("share", "probability; 0 adds no layer")},
       .add = [](const LayerArguments& call) { return stochastic_depth(call.x(), call.number("share")); }},
  };
}

}  // namespace convoy
