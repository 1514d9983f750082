/// The table of layer functions.
#include "model/layer_functions.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/ops/pooling.h"

#include "model/layers/activation.h"
#include "model/layers/attention.h"
#include "model/layers/batch_norm.h"
#include "model/layers/class_token.h"
#include "model/layers/convolution.h"
#include "model/layers/dropout.h"
#include "model/layers/embedding.h"
#include "model/layers/gather.h"
#include "model/layers/layer_norm.h"
#include "model/layers/layer_scale.h"
#include "model/layers/linear.h"
#include "model/layers/linear_cross_entropy.h"
#include "model/layers/objectives.h"
#include "model/layers/pooling.h"
#include "model/layers/sequence_mean.h"
#include "model/layers/sum.h"

namespace convoy {

namespace {

using Kind = ArgumentSpec::Kind;

constexpr double kMaxChannels = 1 << 24, kMaxKernel = 1024, kMaxWeights = 1e12;

ArgumentSpec count(const std::string& name, const std::string& about) {
  return {.name = name, .is_required = true, .about = about, .min = 1, .max = kMaxChannels};
}

ArgumentSpec integer(const std::string& name, std::int64_t initial, const std::string& about, double min = 1) {
  return {.name = name, .initial = initial, .about = about, .min = min, .max = kMaxKernel};
}

ArgumentSpec initial_values(const std::string& name, const std::string& about) {
  return {.name = name, .kind = Kind::kInitialValues, .about = about};
}

ArgumentSpec share(const std::string& name, const std::string& about) {
  return {.name = name, .kind = Kind::kNumber, .is_required = true, .about = about, .min = 0, .max = 1};
}

// The size of x as messages show it: without the number of samples, which is not known when a file is run.
std::string sides(const Shape& shape) {
  return fmt::format("{} x {} x {}", shape.h, shape.w, shape.c);
}

void check_divides(const char* what, std::int64_t divisor, std::int64_t number, const char* of) {
  if (number % divisor != 0) refuse("{} = {} does not divide the {} {}", what, divisor, number, of);
}

void check_window(const Shape& x, std::int64_t kernel, std::int64_t padding) {
  if (std::min(x.h, x.w) + 2 * padding < kernel)
    refuse("the kernel of {0} x {0} does not fit into an input of {1} with padding {2}", kernel, sides(x), padding);
}

void check_same_shape(const Value& a, const Value& b) {
  if (a.shape() != b.shape())
    refuse("the shapes {} and {} (height x width x channels) differ", sides(a.shape()), sides(b.shape()));
}

std::int64_t padding_of(const LayerArguments& call) {
  return call.has("padding") ? call.integer("padding") : call.integer("kernel") / 2;
}

void check_num_weights(double num_weights) {
  if (num_weights > kMaxWeights)
    refuse("it would have {:.1e} weights; a layer can have {:.0e}", num_weights, kMaxWeights);
}

Value add_convolution(const LayerArguments& call) {
  const Shape& x = call.x().shape();
  const std::int64_t groups = call.integer("groups"), filters = call.integer("filters");
  check_divides("groups", groups, x.c, "channels of the input");
  check_divides("groups", groups, filters, "filters");
  check_window(x, call.integer("kernel"), padding_of(call));
  const auto kernel = static_cast<double>(call.integer("kernel"));
  check_num_weights(kernel * kernel * static_cast<double>(filters) * static_cast<double>(x.c) /
                    static_cast<double>(groups));
  return convolution(call.name(), call.x(),
                     {.num_filters = filters,
                      .kernel = call.integer("kernel"),
                      .stride = call.integer("stride"),
                      .padding = padding_of(call),
                      .groups = groups,
                      .bias = call.flag("bias"),
                      .initial_weight = call.initial("initial_weight")});
}

PoolingSettings pooling_of(const LayerArguments& call) {
  const std::int64_t kernel = call.integer("kernel"), padding = call.integer("padding");
  check_window(call.x().shape(), kernel, padding);
  if (2 * padding > kernel) refuse("padding = {} is more than half of kernel = {}", padding, kernel);
  return {.kernel = kernel, .stride = call.has("stride") ? call.integer("stride") : kernel, .padding = padding};
}

Value add_linear(const LayerArguments& call) {
  return linear(call.x(), {.weight = call.name() + ".weight",
                           .bias = call.name() + ".bias",
                           .num_outputs = call.integer("outputs"),
                           .initial_weight = call.initial("initial_weight"),
                           .initial_bias = call.initial("initial_bias")});
}

Value add_channel_padding(const LayerArguments& call) {
  const std::int64_t channels = call.integer("channels"), own = call.x().shape().c;
  const std::int64_t before = call.integer("before");
  if (channels < own + before)
    refuse("channels = {} are fewer than the {} of the input and the {} before them", channels, own, before);
  return pad_channels(call.x(),
                      {.num_channels = channels, .channels_before = before, .stride = call.integer("stride")});
}

Value add_attention(const LayerArguments& call) {
  const std::int64_t heads = call.integer("heads"), width = call.x().shape().c;
  check_divides("heads", heads, width, "channels of the input");
  constexpr std::int64_t kWidths[] = {16, 32, 64, 128};
  if (!std::ranges::count(kWidths, width / heads))
    refuse("{} channels and heads = {} give heads of {} values; {} are possible", width, heads, width / heads,
           fmt::join(kWidths, ", "));
  const AttentionSettings settings{.num_heads = heads, .dropout = call.number("dropout")};
  return call.inputs().size() > 1 ? self_attention(call.name(), call.x(), call.inputs()[1], settings)
                                  : self_attention(call.name(), call.x(), settings);
}

EmbeddingSettings embedding_of(const LayerArguments& call) {
  return {.num_rows = call.integer("rows"), .width = call.integer("width"), .deviation = call.number("stddev")};
}

// The names are columns of tables, with '_' for a blank.
bool is_word_or_blank(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == ' ';
}

Value add_objectives(const LayerArguments& call) {
  const std::vector<std::string>& names = call.names("names");
  if (names.size() != call.inputs().size()) refuse("{} names for {} objectives", names.size(), call.inputs().size());
  for (const std::string& name : names)
    if (name.empty() || name.size() > 50 || !std::ranges::all_of(name, is_word_or_blank))
      refuse("'{}' is no name of an objective: it has 1 to 50 letters and blanks", excerpt(name));
  std::vector<Objective> all;
  for (std::size_t i = 0; i < names.size(); ++i) all.push_back({names[i], call.inputs()[i]});
  return objectives(all);
}

const ArgumentSpec kInitialWeight = initial_values("initial_weight", "initial values of the weight");
const ArgumentSpec kInitialBias = initial_values("initial_bias", "initial values of the bias");

std::vector<LayerFunction> convolutions() {
  const std::vector<ArgumentSpec> window = {
      {.name = "kernel", .is_required = true, .about = "height and width of a window", .min = 1, .max = kMaxKernel},
      {.name = "stride",
       .about = "distance of two windows; without it, as large as the kernel",
       .min = 1,
       .max = kMaxKernel},
      integer("padding", 0, "rows and columns of padding at each side", 0)};
  std::vector<ArgumentSpec> of_max_pool = window;
  of_max_pool.front().max = static_cast<double>(ops::MaxPoolOp::kMaxKernel);
  return {
      {.name = "conv",
       .about =
           "convolution, x (H,W,C), y (P,Q,filters). Parameters: NAME.weight (filters,C/groups,kernel,kernel), and "
           "NAME.bias (filters) with bias = true",
       .has_name = true,
       .arguments = {count("filters", "number of filters, the channels of the result"),
                     integer("kernel", 1, "height and width of a filter"),
                     integer("stride", 1, "distance of two windows"),
                     {.name = "padding",
                      .about = "rows and columns of zeros at each side; without it half of the kernel, rounded down",
                      .min = 0,
                      .max = kMaxKernel},
                     {.name = "groups",
                      .initial = std::int64_t{1},
                      .about = "number of groups of channels; each filter reads one group",
                      .min = 1,
                      .max = kMaxChannels},
                     {.name = "bias", .kind = Kind::kFlag, .initial = false, .about = "whether a bias is added"},
                     initial_values("initial_weight",
                                    "initial values of the weight; without it normal(sqrt(2 / "
                                    "(filters kernel^2))) (He et al. 2015)")},
       .add = add_convolution},
      {.name = "max_pool",
       .about = "maximum over each window, x (H,W,C), y (P,Q,C)",
       .arguments = of_max_pool,
       .add = [](const LayerArguments& call) { return max_pool(call.x(), pooling_of(call)); }},
      {.name = "average_pool",
       .about = "mean over those pixels of each window that are inside the image, x (H,W,C), y (P,Q,C)",
       .arguments = window,
       .add = [](const LayerArguments& call) { return average_pool(call.x(), pooling_of(call)); }},
      {.name = "global_average_pool",
       .about = "mean over the image, x (H,W,C), y (1,1,C)",
       .add = [](const LayerArguments& call) { return global_average_pool(call.x()); }},
      {.name = "pad_channels",
       .about = "every stride-th pixel, with channels of zeros added, x (H,W,C), y (P,Q,channels). Another layer must "
                "read x, too",
       .arguments = {count("channels", "number of channels of the result"),
                     {.name = "before",
                      .initial = std::int64_t{0},
                      .about = "number of zero channels that come before those of x",
                      .min = 0,
                      .max = kMaxChannels},
                     integer("stride", 1, "takes every stride-th row and column")},
       .add = add_channel_padding},
  };
}

std::vector<LayerFunction> norms_and_sums() {
  return {
      {.name = "batch_norm",
       .about = "batch normalisation of each channel. Parameters: NAME.weight, NAME.bias, NAME.running_mean and "
                "NAME.running_var (C)",
       .has_name = true,
       .add = [](const LayerArguments& call) { return batch_norm(call.name(), call.x()); }},
      {.name = "layer_norm",
       .about = "layer normalisation over the channels. Parameters: NAME.weight and NAME.bias (C)",
       .has_name = true,
       .arguments = {{.name = "epsilon",
                      .kind = Kind::kNumber,
                      .initial = 1e-5,
                      .about = "added to the variance",
                      .min = 1e-12,
                      .max = 1}},
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

std::vector<LayerFunction> sequences() {
  return {
      {.name = "linear",
       .about = "fully connected layer, for each pixel or word, x (...,C), y (...,outputs). Parameters: NAME.weight "
                "(outputs,C), NAME.bias (outputs)",
       .has_name = true,
       .arguments = {count("outputs", "number of channels of the result"), kInitialWeight, kInitialBias},
       .add = add_linear},
      {.name = "logits",
       .about = "the last linear layer of a network, with results in float32 in any precision. Parameters as of linear",
       .has_name = true,
       .arguments = {count("classes", "number of classes")},
       .add = [](const LayerArguments& call) { return logits(call.name(), call.x(), call.integer("classes")); }},
      {.name = "self_attention",
       .about = "self-attention of words (T,1,C) with projections before and after it; the second input is the feature "
                "with the texts' lengths, if they differ. Parameters as of torch.nn.MultiheadAttention",
       .has_name = true,
       .max_inputs = 2,
       .arguments = {count("heads", "number of heads, which share the channels"),
                     {.name = "dropout",
                      .kind = Kind::kNumber,
                      .initial = 0.0,
                      .about = "probability that training sets an attention weight to 0",
                      .min = 0,
                      .max = 1}},
       .add = add_attention},
      {.name = "class_token",
       .about =
           "turns an image's pixels (H,W,C) into words (1 + H W,1,C), of which the first is trained. Parameter: NAME "
           "(1,1,C)",
       .has_name = true,
       .add = [](const LayerArguments& call) { return class_token(call.name(), call.x()); }},
      {.name = "position_table",
       .about = "a trained vector for each of the T words of x (T,1,C), in the same shape. Parameter: NAME (1,T,C)",
       .has_name = true,
       .arguments = {{.name = "stddev",
                      .kind = Kind::kNumber,
                      .is_required = true,
                      .about = "standard deviation of the initial values",
                      .min = 0}},
       .add = [](const LayerArguments& call) { return position_table(call.name(), call.x(), call.number("stddev")); }},
      {.name = "embedding",
       .about =
           "a trained vector for each token of a feature (T,1,1), y (T,1,width). Parameter: NAME.weight (rows,width)",
       .has_name = true,
       .arguments = {count("rows", "number of vectors, the size of the vocabulary"),
                     count("width", "channels of the result"),
                     {.name = "stddev",
                      .kind = Kind::kNumber,
                      .initial = 1.0,
                      .about = "standard deviation of the initial values",
                      .min = 0},
                     {.name = "scale", .kind = Kind::kNumber, .initial = 1.0, .about = "factor of the vectors"},
                     {.name = "sinusoids",
                      .kind = Kind::kFlag,
                      .initial = false,
                      .about = "whether sinusoids of the position are added (Vaswani et al. 2017)"}},
       .add =
           [](const LayerArguments& call) {
             EmbeddingSettings settings = embedding_of(call);
             settings.scale = static_cast<float>(call.number("scale"));
             settings.sinusoids = call.flag("sinusoids");
             return embedding(call.name(), call.x(), settings);
           }},
      {.name = "position_embedding",
       .about = "a trained vector for each position of a text, y (T,1,width). Parameter: NAME.weight (rows,width)",
       .has_name = true,
       .arguments = {count("rows", "number of vectors, at least T"),
                     count("width", "channels of the result"),
                     {.name = "stddev",
                      .kind = Kind::kNumber,
                      .initial = 1.0,
                      .about = "standard deviation of the initial values",
                      .min = 0}},
       .add =
           [](const LayerArguments& call) {
             if (call.integer("rows") < call.x().shape().h)
               refuse("rows = {} are fewer than the {} words of a text", call.integer("rows"), call.x().shape().h);
             return position_embedding(call.name(), call.x(), embedding_of(call));
           }},
      {.name = "gather",
       .about = "the words of x (T,1,C) at the positions (K,1,1) of the second input, y (K,1,C)",
       .min_inputs = 2,
       .max_inputs = 2,
       .add = [](const LayerArguments& call) { return gather(call.inputs()[0], call.inputs()[1]); }},
      {.name = "first_word",
       .about = "the first word of x (T,1,C), y (1,1,C)",
       .add = [](const LayerArguments& call) { return first_word(call.x()); }},
      {.name = "sequence_mean",
       .about =
           "mean over the words of x (T,1,C) that the text has, y (1,1,C); the second input is the feature with the "
           "texts' lengths",
       .min_inputs = 2,
       .max_inputs = 2,
       .add = [](const LayerArguments& call) { return sequence_mean(call.inputs()[0], call.inputs()[1]); }},
      {.name = "linear_cross_entropy",
       .about =
           "a linear layer and the cross-entropy of its results, for words x (K,1,C) and labels (K,1,1): the scores of "
           "an objective. Parameters as of linear",
       .has_name = true,
       .min_inputs = 2,
       .max_inputs = 2,
       .arguments = {count("classes", "number of classes")},
       .add =
           [](const LayerArguments& call) {
             return linear_cross_entropy(call.name(), call.inputs()[0], call.inputs()[1], call.integer("classes"));
           }},
      {.name = "objectives",
       .about = "the result of a network that computes its losses itself: the scores of its objectives",
       .max_inputs = 16,
       .arguments = {{.name = "names",
                      .kind = Kind::kNames,
                      .is_required = true,
                      .about = "names of the objectives, in the order of the inputs"}},
       .add = add_objectives},
  };
}

std::vector<LayerFunction> make_layer_functions() {
  std::vector<LayerFunction> all = convolutions();
  for (auto* const part : {norms_and_sums, sequences}) {
    std::vector<LayerFunction> functions = part();
    std::ranges::move(functions, std::back_inserter(all));
  }
  return all;
}

}  // namespace

std::span<const LayerFunction> layer_functions() {
  static const std::vector<LayerFunction> kFunctions = make_layer_functions();
  return kFunctions;
}

const LayerFunction* find_layer_function(std::string_view name) {
  const auto found = std::ranges::find(layer_functions(), name, &LayerFunction::name);
  return found == layer_functions().end() ? nullptr : &*found;
}

}  // namespace convoy
