/// The cells of BERT that no other Transformer has: Devlin et al. 2018, "BERT: Pre-training of Deep Bidirectional
/// Transformers for Language Understanding". Its body consists of encoder_layer().
#pragma once

#include <memory>

#include "model/transformer_cells.h"

namespace convoy {

/// The sum of the embeddings of a token, its position and its segment, normalised: y (N,T,1,C). `tokens` and `segments`
/// name the features that it reads.
std::unique_ptr<Cell> bert_embedding(const EncoderSpec& spec, const char* tokens, const char* segments);

/// Both losses of pre-training, as the scores of two objectives: "masked words" (softmax over all words at the masked
/// positions) and "next sentence" (whether B follows A, from the output of [CLS]). Reads masked_positions, masked_words
/// and next_sentence. The decoder has its own weights: those of the embedding are on another stage.
std::unique_ptr<Cell> bert_heads(const EncoderSpec& spec);

/// Logits of classes from the output of [CLS]: y (N,1,1,classes).
std::unique_ptr<Cell> bert_classifier(const EncoderSpec& spec, std::int64_t num_classes);

}  // namespace convoy
