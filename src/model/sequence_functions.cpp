/// The layer functions of words and the last layers of networks: linear layers, attention, embeddings, objectives.
#include <algorithm>

#include <fmt/ranges.h>

#include "convoy/base/error.h"
#include "convoy/base/text.h"

#include "model/layer_function_parts.h"
#include "model/layers/attention.h"
#include "model/layers/class_token.h"
#include "model/layers/embedding.h"
#include "model/layers/gather.h"
#include "model/layers/linear.h"
#include "model/layers/linear_cross_entropy.h"
#include "model/layers/objectives.h"
#include "model/layers/sequence_mean.h"
#include "model/layers/target_loss.h"

namespace convoy {

namespace {

using Kind = ArgumentSpec::Kind;

Value add_linear(const LayerArguments& call) {
  return linear(call.x(), {.weight = call.name() + ".weight",
                           .bias = call.name() + ".bias",
                           .num_outputs = call.integer("outputs"),
                           .initial_weight = call.initial("initial_weight"),
                           .initial_bias = call.initial("initial_bias")});
}

// The answer of a network at each pixel.
Value add_field(const LayerArguments& call) {
  const Shape &x = call.x().shape(), &field = call.target().shape;
  const std::string pixels = fmt::format("{} x {}", field.h, field.w);
  if (call.flag("each_row"))
    refuse("each_row = true gives one row of results, but the target is a field of {} pixels. Leave it out", pixels);
  if (x.h != field.h || x.w != field.w)
    refuse(
        "its input has {} x {} pixels, but the target of a sample has {}, and each is answered. Leave out strides and "
        "pooling, or give convolutions a padding that keeps the size",
        x.h, x.w, pixels);
  return pixel_logits(call.name(), call.x(), call.integer("classes"));
}

Value add_logits(const LayerArguments& call) {
  const Shape& x = call.x().shape();
  if (call.target().is_field()) return add_field(call);
  if (call.flag("each_row")) {
    check_divides("the number of rows", x.length(), call.integer("classes"), "outputs");
    return logits(call.name(), call.x(), call.integer("classes") / x.length());
  }
  if (x.h * x.w != 1)
    refuse(
        "its input has {} x {} pixels or words, and a sample has one class: put global_average_pool(x) or flatten(x) "
        "before it, or for texts sequence_mean(x, feature(\"length\")) or first_word(x)",
        x.h, x.w);
  return logits(call.name(), call.x(), call.integer("classes"));
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

template <ops::TargetLossKind kKind>
Value add_target_loss(const LayerArguments& call) {
  const Shape &outputs = call.x().shape(), &targets = call.inputs()[1].shape();
  if (outputs != targets) refuse("outputs of {} have targets of {}", sides(outputs), sides(targets));
  ops::TargetLossSpec loss{.kind = kKind};
  if (call.has("delta")) loss.huber_delta = static_cast<float>(call.number("delta"));
  return target_loss(call.x(), call.inputs()[1], loss);
}

// A function of outputs y and targets t; `error` is the formula of one output's error.
template <ops::TargetLossKind kKind>
LayerFunction target_loss_function(const char* name, const std::string& error,
                                   const std::vector<ArgumentSpec>& arguments = {}) {
  return {.name = name,
          .about = "the scores of an objective: for each sample the mean of " + error +
                   " over outputs y (H,W,K), the result of logits, and their targets t (H,W,K), without those that are "
                   "not known",
          .min_inputs = 2,
          .max_inputs = 2,
          .arguments = arguments,
          .reads = {ValueKind::kLogits, ValueKind::kTargets},
          .returns = ValueKind::kScores,
          .add = add_target_loss<kKind>};
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

}  // namespace

std::vector<LayerFunction> sequence_functions() {
  return {
      {.name = "linear",
       .about = "fully connected layer, for each pixel or word, x (...,C), y (...,outputs). Parameters: NAME.weight "
                "(outputs,C), NAME.bias (outputs)",
       .has_name = true,
       .arguments = {count("outputs", "number of channels of the result"), kInitialWeight, kInitialBias},
       .add = add_linear},
      {.name = "logits",
       .about = "the last linear layer of a network, with results in float32 in any precision; if the target is a "
                "field, at each pixel of x (H,W,C). Parameters as of linear",
       .has_name = true,
       .arguments = {count("classes", "number of classes, labels or numbers"),
                     {.name = "each_row",
                      .kind = Kind::kFlag,
                      .initial = false,
                      .about = "whether each of the T rows of x (T,1,C) gives classes / T of the results"}},
       .returns = ValueKind::kLogits,
       .add = add_logits},
      {.name = "self_attention",
       .about = "self-attention of words (T,1,C) with projections before and after it; the second input is the feature "
                "with the texts' lengths, if they differ. Parameters as of torch.nn.MultiheadAttention",
       .has_name = true,
       .max_inputs = 2,
       .arguments = {count("heads", "number of heads, which share the channels"),
                     number("dropout", 0, "probability that training sets an attention weight to 0", 0, 1)},
       .reads = {ValueKind::kNumbers, ValueKind::kLengths},
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
                     number("stddev", 1, "standard deviation of the initial values", 0, kNoLimit),
                     {.name = "scale", .kind = Kind::kNumber, .initial = 1.0, .about = "factor of the vectors"},
                     {.name = "sinusoids",
                      .kind = Kind::kFlag,
                      .initial = false,
                      .about = "whether sinusoids of the position are added (Vaswani et al. 2017)"}},
       .reads = {ValueKind::kTokens},
       .add =
           [](const LayerArguments& call) {
             call.check_covers("rows", 0);
             EmbeddingSettings settings = embedding_of(call);
             settings.scale = static_cast<float>(call.number("scale"));
             settings.sinusoids = call.flag("sinusoids");
             return embedding(call.name(), call.x(), settings);
           }},
      {.name = "position_embedding",
       .about = "a trained vector for each position of a text, y (T,1,width). Parameter: NAME.weight (rows,width)",
       .has_name = true,
       .arguments = {count("rows", "number of vectors, at least T"), count("width", "channels of the result"),
                     number("stddev", 1, "standard deviation of the initial values", 0, kNoLimit)},
       .reads = {ValueKind::kTokens},
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
       .reads = {ValueKind::kNumbers, ValueKind::kPositions},
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
       .reads = {ValueKind::kNumbers, ValueKind::kLengths},
       .add = [](const LayerArguments& call) { return sequence_mean(call.inputs()[0], call.inputs()[1]); }},
      {.name = "linear_cross_entropy",
       .about =
           "a linear layer and the cross-entropy of its results, for words x (K,1,C) and labels (K,1,1): the scores of "
           "an objective. Parameters as of linear",
       .has_name = true,
       .min_inputs = 2,
       .max_inputs = 2,
       .arguments = {count("classes", "number of classes")},
       .reads = {ValueKind::kNumbers, ValueKind::kLabels},
       .returns = ValueKind::kScores,
       .add =
           [](const LayerArguments& call) {
             call.check_covers("classes", 1);
             const std::int64_t words = call.x().shape().h, labels = call.inputs()[1].shape().h;
             if (words != labels) refuse("{} words have {} labels", words, labels);
             return linear_cross_entropy(call.name(), call.inputs()[0], call.inputs()[1], call.integer("classes"));
           }},
      target_loss_function<ops::TargetLossKind::kBinaryCrossEntropy>(
          "binary_cross_entropy", "-t log s(y) - (1 - t) log(1 - s(y)) with s(y) = 1 / (1 + exp(-y))"),
      target_loss_function<ops::TargetLossKind::kSquaredError>("squared_error", "(y - t)^2"),
      target_loss_function<ops::TargetLossKind::kAbsoluteError>("absolute_error", "abs(y - t)"),
      target_loss_function<ops::TargetLossKind::kHuberError>(
          "huber_error", "d^2 / 2 if d = abs(y - t) is at most delta, else of delta (d - delta / 2),",
          {number("delta", 1, "difference up to which the error is a square", 1e-9, kNoLimit)}),
      {.name = "objectives",
       .about = "the result of a network that computes its losses itself: the scores of its objectives",
       .max_inputs = 16,
       .arguments = {{.name = "names",
                      .kind = Kind::kNames,
                      .is_required = true,
                      .about = "names of the objectives, in the order of the inputs"}},
       .reads = {ValueKind::kScores},
       .returns = ValueKind::kObjectives,
       .add = add_objectives},
  };
}

}  // namespace convoy
