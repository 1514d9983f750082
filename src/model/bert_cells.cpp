/// BERT's embedding and heads. Both networks use the same names for the parameters that they share, so that one can
/// begin with the other's weights.
#include "model/bert_cells.h"

#include "convoy/base/features.h"

#include "model/layers/activation.h"
#include "model/layers/dropout.h"
#include "model/layers/embedding.h"
#include "model/layers/gather.h"
#include "model/layers/layer_norm.h"
#include "model/layers/linear.h"
#include "model/layers/linear_cross_entropy.h"
#include "model/layers/objectives.h"
#include "model/layers/sum.h"

namespace convoy {

namespace {

constexpr double kDeviation = 0.02;  // section A.2

Value body_of(CellBuilder& cell, const EncoderSpec& spec) {
  const Value x = cell.input(spec.x());  // (N,T,1,C)
  return spec.shape.norm == NormPlace::kBefore ? layer_norm("norm", x) : x;
}

// The output of [CLS], the first word, represents the whole text.
Value pooled(const Value& x) {
  return activate(ops::Activation::kTanh, linear("pooler", first_word(x), x.shape().c));  // (N,1,1,C)
}

}  // namespace

std::unique_ptr<Cell> bert_embedding(const EncoderSpec& spec, const char* tokens, const char* segments) {
  CellBuilder cell({.name = "embedding", .type = spec.type});
  const TensorSpec of_tokens = features::tokens_spec(spec.n, spec.length);
  const Value words = embed_tokens(cell.feature(tokens, of_tokens, spec.num_words), spec);  // (N,T,1,C)
  const Value parts = embedding("segment_embedding", cell.feature(segments, of_tokens, 2),
                                {.num_rows = 2, .width = spec.shape.width, .deviation = kDeviation});
  return cell.finish(dropout(layer_norm("embedding_norm", words + parts), spec.shape.dropout));  // (N,T,1,C)
}

std::unique_ptr<Cell> bert_heads(const EncoderSpec& spec) {
  CellBuilder cell({.name = "heads", .type = spec.type});
  const Value x = body_of(cell, spec);
  const TensorSpec of_words = features::masked_words_spec(spec.n, spec.length);
  const Value masked = gather(x, cell.feature(features::kMaskedPositions, of_words, spec.length));  // (N,K,1,C)
  const Value h =
      layer_norm("word_norm", activate(spec.shape.activation, linear("word_transform", masked, spec.shape.width)));
  const Value words = linear_cross_entropy(
      "word_decoder", h, cell.feature(features::kMaskedWords, of_words, spec.num_words), spec.num_words);
  const Value next = linear_cross_entropy("next_sentence", pooled(x),
                                          cell.feature(features::kNextSentence, features::label_spec(spec.n), 2), 2);
  return cell.finish(objectives({{"masked words", words}, {"next sentence", next}}));  // (2,N,1,3)
}

std::unique_ptr<Cell> bert_classifier(const EncoderSpec& spec, std::int64_t num_classes) {
  CellBuilder cell({.name = "classifier", .type = spec.type});
  const Value x = body_of(cell, spec);
  return cell.finish(logits("classifier", dropout(pooled(x), spec.shape.dropout), num_classes));  // (N,1,1,classes)
}

}  // namespace convoy
