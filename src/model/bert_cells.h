/// The cells of BERT that no other Transformer has: Devlin et al. 2018, "BERT: Pre-training of Deep Bidirectional
/// Transformers for Language Understanding". Its body is of encoder_layer().
#pragma once

#include <memory>

#include "model/transformer_cells.h"

namespace convoy {

/// The sum of what stands for a token, its place and its segment, normalised: y (N,T,1,C). `tokens` and `segments` are
/// the features that it reads.
std::unique_ptr<Cell> bert_embedding(const EncoderSpec& spec, const char* tokens, const char* segments);

/// Both losses of pre-training, for the scores of two objectives: "masked words" (softmax over all words at the masked
/// positions) and "next sentence" (whether B follows A, by what stands for [CLS]). Reads masked_positions, masked_words
/// and next_sentence. The decoder's weights are its own: those of the embedding lie on another stage.
std::unique_ptr<Cell> bert_heads(const EncoderSpec& spec);

/// Logits of classes by what stands for [CLS]: y (N,1,1,classes).
std::unique_ptr<Cell> bert_classifier(const EncoderSpec& spec, std::int64_t num_classes);

}  // namespace convoy
