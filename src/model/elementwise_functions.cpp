/// The layer functions that keep the shape of their input: norms, sums and activations.

#include "convoy/base/error.h"

#include "model/layer_function_parts.h"
#include "model/layers/activation.h"
#include "model/layers/batch_norm.h"
#include "model/layers/dropout.h"
#include "model/layers/layer_norm.h"
#include "model/layers/layer_scale.h"
#include "model/layers/product.h"
#include "model/layers/softmax.h"
#include "model/layers/sum.h"

namespace convoy {

namespace {

using Kind = ArgumentSpec::Kind;

constexpr double kMinEpsilon = 1e-12;

ArgumentSpec share(const std::string& name, const std::string& about) {
  constexpr double kMaxShare = 0.999;  // 1 would leave nothing
  return {.name = name, .kind = Kind::kNumber, .is_required = true, .about = about, .min = 0, .max = kMaxShare};
}

/// A number that must be given.
ArgumentSpec given_number(const std::string& name, const std::string& about) {
  return {.name = name, .kind = Kind::kNumber, .is_required = true, .about = about};
}

template <ops::Activation f>
Value add_activation(const LayerArguments& call) {
  return activate(f, call.x());
}

void check_same_shape(const Value& a, const Value& b) {
  if (a.shape() != b.shape())
    refuse("the shapes {} and {} (height x width x channels) differ", sides(a.shape()), sides(b.shape()));
}

Value add_product(const LayerArguments& call) {
  const Value &a = call.inputs()[0], &b = call.inputs()[1];
  if (!can_multiply(a.shape(), b.shape()))
    refuse("the shapes {} and {} (height x width x channels) differ, and neither is 1 x 1 x the channels of the other",
           sides(a.shape()), sides(b.shape()));
  return a * b;
}

}  // namespace

std::vector<LayerFunction> elementwise_functions() {
  return {
      {.name = "batch_norm",
       .about = "batch normalisation of each channel. Parameters: NAME.weight, NAME.bias, NAME.running_mean and "
                "NAME.running_var (C)",
       .has_name = true,
       .arguments = {number("epsilon", 1e-5, "added to the variance", kMinEpsilon, 1),
                     number("momentum", 0.1, "weight of a step's statistics in the running ones", 0, 1)},
       .add =
           [](const LayerArguments& call) {
             return batch_norm(
                 call.name(), call.x(),
                 {.epsilon = static_cast<float>(call.number("epsilon")), .momentum = call.number("momentum")});
           }},
      {.name = "layer_norm",
       .about = "layer normalisation over the channels. Parameters: NAME.weight and NAME.bias (C)",
       .has_name = true,
       .arguments = {number("epsilon", 1e-5, "added to the variance", kMinEpsilon, 1)},
       .add =
           [](const LayerArguments& call) {
             return layer_norm(call.name(), call.x(), static_cast<float>(call.number("epsilon")));
           }},
      {.name = "rms_norm",
       .about =
           "RMS normalisation over the channels: weight * x / sqrt(mean of x^2 + epsilon). Parameter: NAME.weight (C)",
       .has_name = true,
       .arguments = {number("epsilon", 0x1p-23, "added to the mean of the squares", kMinEpsilon, 1)},
       .add =
           [](const LayerArguments& call) {
             return rms_norm(call.name(), call.x(), static_cast<float>(call.number("epsilon")));
           }},
      {.name = "group_norm",
       .about =
           "normalisation over all pixels and the channels of a group, for each sample. Parameters: NAME.weight and "
           "NAME.bias (C)",
       .has_name = true,
       .arguments = {count("groups", "number of groups, which share the channels"),
                     number("epsilon", 1e-5, "added to the variance", kMinEpsilon, 1)},
       .add =
           [](const LayerArguments& call) {
             check_divides("groups", call.integer("groups"), call.x().shape().c, "channels of the input");
             return group_norm(call.name(), call.x(), call.integer("groups"),
                               static_cast<float>(call.number("epsilon")));
           }},
      {.name = "layer_scale",
       .about = "multiplies each channel by a trained factor, the same for all pixels. Parameter: NAME (C,1,1)",
       .has_name = true,
       .arguments = {given_number("initial", "initial value of all factors")},
       .add = [](const LayerArguments& call) { return layer_scale(call.name(), call.x(), call.number("initial")); }},
      {.name = "add",
       .about = "sum of two values of the same shape; also written a + b",
       .min_inputs = 2,
       .max_inputs = 2,
       .takes_slices = true,
       .add =
           [](const LayerArguments& call) {
             check_same_shape(call.inputs()[0], call.inputs()[1]);
             return call.inputs()[0] + call.inputs()[1];
           }},
      {.name = "multiply",
       .about = "product of two values of the same shape, or of (H,W,C) and (1,1,C), which multiplies all pixels; also "
                "written a * b",
       .min_inputs = 2,
       .max_inputs = 2,
       .add = add_product},
      {.name = "scale",
       .about = "factor * x; also written 2 * x",
       .arguments = {given_number("factor", "the same for all values")},
       .takes_slices = true,
       .add =
           [](const LayerArguments& call) {
             return activate(ops::Activation::kAffine, call.x(), {.factor = static_cast<float>(call.number("factor"))});
           }},
      {.name = "shift",
       .about = "x + constant; also written x + 0.5",
       .arguments = {given_number("constant", "the same for all values")},
       .takes_slices = true,
       .add =
           [](const LayerArguments& call) {
             return activate(ops::Activation::kAffine, call.x(),
                             {.constant = static_cast<float>(call.number("constant"))});
           }},
      {.name = "relu", .about = "max(0, x)", .takes_slices = true, .add = add_activation<ops::Activation::kRelu>},
      {.name = "leaky_relu",
       .about = "x for x > 0, else slope * x",
       .arguments = {number("slope", 0.01, "factor of values below 0", 0, kNoLimit)},
       .takes_slices = true,
       .add =
           [](const LayerArguments& call) {
             return activate(ops::Activation::kLeakyRelu, call.x(),
                             {.factor = static_cast<float>(call.number("slope"))});
           }},
      {.name = "gelu",
       .about = "x Phi(x), with Phi of the normal distribution",
       .takes_slices = true,
       .add = add_activation<ops::Activation::kGelu>},
      {.name = "gelu_tanh",
       .about = "approximation of gelu by tanh",
       .takes_slices = true,
       .add = add_activation<ops::Activation::kGeluTanh>},
      {.name = "silu", .about = "x sigmoid(x)", .takes_slices = true, .add = add_activation<ops::Activation::kSilu>},
      {.name = "hard_swish",
       .about = "x hard_sigmoid(x)",
       .takes_slices = true,
       .add = add_activation<ops::Activation::kHardSwish>},
      {.name = "tanh",
       .about = "hyperbolic tangent",
       .takes_slices = true,
       .add = add_activation<ops::Activation::kTanh>},
      {.name = "sigmoid",
       .about = "1 / (1 + exp(-x))",
       .takes_slices = true,
       .add = add_activation<ops::Activation::kSigmoid>},
      {.name = "hard_sigmoid",
       .about = "x / 6 + 1/2, at least 0 and at most 1",
       .takes_slices = true,
       .add = add_activation<ops::Activation::kHardSigmoid>},
      {.name = "softmax",
       .about = "exp(x) divided by its sum over the channels, for each pixel or word",
       .add = [](const LayerArguments& call) { return softmax(call.x()); }},
      {.name = "dropout",
       .about = "in training, sets each value to 0 with this probability and divides the others by the rest",
       .arguments = {share("share", "probability")},
       .takes_slices = true,
       .add = [](const LayerArguments& call) { return dropout(call.x(), call.number("share")); }},
      {.name = "stochastic_depth",
       .about =
           "in training, sets all values of a sample to 0 with this probability and divides the others by the rest",
       .arguments = {share("share", "probability; 0 adds no layer")},
       .takes_slices = true,
       .add = [](const LayerArguments& call) { return stochastic_depth(call.x(), call.number("share")); }},
  };
}

}  // namespace convoy
