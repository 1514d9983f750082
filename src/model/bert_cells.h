/// The cells of BERT that no other Transformer has: Devlin et al. 2018, "BERT: Pre-training of Deep Bidirectional
/// Transformers for Language Understanding". The layers between them are those of encoder_layer().
#pragma once

#include <memory>

#include "model/transformer_cells.h"

namespace convoy {

/// Returns BERT's first cell: the sum of the embeddings of each token, its position and its segment, with layer norm
/// and dropout: y (N,T,1,C). `tokens` and `segments` are the names of the features that it reads.
std::unique_ptr<Cell> bert_embedding(const EncoderSpec& spec, const char* tokens, const char* segments);

/// Returns the last cell of pre-training. It computes both losses, as the scores of two objectives: "masked words"
/// (cross-entropy over the vocabulary at the masked positions) and "next sentence" (whether sentence B follows A, from
/// the output of the token [CLS]). It reads the features masked_positions, masked_words and next_sentence. The layer
/// that gives the words' logits has its own weights, not those of the embedding, which may be on another stage.
std::unique_ptr<Cell> bert_heads(const EncoderSpec& spec);

/// Returns the last cell of a classification of texts: logits from the output of the token [CLS], y (N,1,1,classes).
std::unique_ptr<Cell> bert_classifier(const EncoderSpec& spec, std::int64_t num_classes);

}  // namespace convoy
