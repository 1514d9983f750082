/// Encoders of text: Vaswani et al. 2017, "Attention is all you need", figure 1 (left), with parameters named as
/// torch.nn.TransformerEncoder's.
#include "model/transformer_cells.h"

#include <cmath>

#include "convoy/base/error.h"
#include "convoy/base/features.h"

#include "model/layers/activation.h"
#include "model/layers/attention.h"
#include "model/layers/dropout.h"
#include "model/layers/embedding.h"
#include "model/layers/layer_norm.h"
#include "model/layers/linear.h"
#include "model/layers/sequence_mean.h"
#include "model/layers/sum.h"

namespace convoy {

namespace {

Value lengths_of(CellBuilder& cell, const EncoderSpec& spec) {
  return cell.feature(spec.lengths, features::length_spec(spec.n), spec.length + 1);
}

void check(const TransformerParams& shape) {
  if (shape.width % shape.heads != 0)
    refuse("model.heads = {} does not divide model.width = {}: each head has the same share of the width.", shape.heads,
           shape.width);
  const std::int64_t head_width = shape.width / shape.heads;
  if (head_width != 16 && head_width != 32 && head_width != 64 && head_width != 128)
    refuse("model.width = {} and model.heads = {} give heads of {} values; 16, 32, 64 and 128 are possible.",
           shape.width, shape.heads, head_width);
}

}  // namespace

EncoderSpec encoder_spec(const NetworkSpec& spec) {
  check(spec.transformer);
  const TextShape& text = text_of(spec);
  return {.n = spec.micro_batch,
          .length = text.length,
          .num_words = text.vocabulary,
          .shape = spec.transformer,
          .type = spec.type};
}

Value embed_tokens(const Value& tokens, const EncoderSpec& spec) {
  constexpr double kDeviation = 0.02;  // Devlin et al. 2018, "BERT"
  const TransformerParams& shape = spec.shape;
  if (shape.positions == PositionKind::kLearned) {
    const Value words =
        embedding("embedding", tokens, {.num_rows = spec.num_words, .width = shape.width, .deviation = kDeviation});
    return words + position_embedding("position_embedding", tokens,
                                      {.num_rows = spec.length, .width = shape.width, .deviation = kDeviation});
  }
  // Section 3.4: rows are multiplied by sqrt(C), so that words are as large as the sinusoids.
  const double root = std::sqrt(static_cast<double>(shape.width));
  return embedding("embedding", tokens,
                   {.num_rows = spec.num_words,
                    .width = shape.width,
                    .deviation = 1 / root,
                    .scale = static_cast<float>(root),
                    .sinusoids = true});
}

std::unique_ptr<Cell> text_embedding(const EncoderSpec& spec) {
  CellBuilder cell({.name = "embedding", .type = spec.type});
  const Value tokens =
      cell.feature(features::kTokens, features::tokens_spec(spec.n, spec.length), spec.num_words);  // (N,T,1,1)
  return cell.finish(dropout(embed_tokens(tokens, spec), spec.shape.dropout));                      // (N,T,1,C)
}

std::unique_ptr<Cell> encoder_layer(const EncoderSpec& spec, std::int64_t index) {
  const TransformerParams& shape = spec.shape;
  const std::string name = fmt::format("layers.{}", index);
  CellBuilder cell({.name = name, .parameters = name + ".", .type = spec.type});
  const Value x = cell.input(spec.x());          // (N,T,1,C)
  const Value lengths = lengths_of(cell, spec);  // (N,1,1,1)
  const auto attend = [&](const Value& v) {      // (N,T,1,C)
    const AttentionSettings settings{.num_heads = shape.heads, .dropout = shape.dropout};
    return dropout(self_attention("self_attn", v, lengths, settings), shape.dropout);
  };
  const auto feed_forward = [&](const Value& v) {                                         // (N,T,1,C)
    const Value h = activate(shape.activation, linear("linear1", v, shape.feedforward));  // (N,T,1,F)
    return dropout(linear("linear2", dropout(h, shape.dropout), shape.width), shape.dropout);
  };
  if (shape.norm == NormPlace::kBefore) {
    const Value a = x + attend(layer_norm("norm1", x));
    return cell.finish(a + feed_forward(layer_norm("norm2", a)));
  }
  const Value a = layer_norm("norm1", x + attend(x));
  return cell.finish(layer_norm("norm2", a + feed_forward(a)));
}

std::unique_ptr<Cell> text_classifier(const EncoderSpec& spec, std::int64_t num_classes) {
  CellBuilder cell({.name = "classifier", .type = spec.type});
  Value x = cell.input(spec.x());                // (N,T,1,C)
  const Value lengths = lengths_of(cell, spec);  // (N,1,1,1)
  if (spec.shape.norm == NormPlace::kBefore) x = layer_norm("norm", x);
  return cell.finish(logits("classifier", sequence_mean(x, lengths), num_classes));  // (N,1,1,classes)
}

}  // namespace convoy
