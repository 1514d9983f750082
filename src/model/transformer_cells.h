/// The cells of Transformers that read text.
#pragma once

#include <memory>

#include "convoy/model/network.h"
#include "convoy/params/model_parameters.h"

#include "model/cell_builder.h"

namespace convoy {

/// The properties that all cells of one Transformer share.
struct EncoderSpec {
  std::int64_t n = 0;          ///< sequences per micro-batch
  std::int64_t length = 0;     ///< T, words per sequence
  std::int64_t num_words = 0;  ///< V, size of the vocabulary
  TransformerParams shape;
  DataType type = DataType::kFloat32;
  const char* lengths = features::kLength;  ///< name of the feature with the sequences' lengths

  Shape x() const { return Shape::sequences(n, length, shape.width); }
};

/// Returns the properties of a network that reads texts. Throws RequestError if a head would not have 16, 32, 64
/// or 128 values (width divided by number of heads), or if the data holds images.
EncoderSpec encoder_spec(const NetworkSpec& spec);

/// Adds the sum of the embedding of each token and of that of its position: tokens (N,T,1,1), y (N,T,1,C).
Value embed_tokens(const Value& tokens, const EncoderSpec& spec);

/// Returns a Transformer's first cell: the sum of token and position embeddings, with dropout, y (N,T,1,C). It reads
/// the feature tokens.
std::unique_ptr<Cell> text_embedding(const EncoderSpec& spec);

/// Returns an encoder layer, as torch.nn.TransformerEncoderLayer: x, y (N,T,1,C). It reads the feature spec.lengths.
/// `index`, from 0, is the number in its name, "layers.0".
std::unique_ptr<Cell> encoder_layer(const EncoderSpec& spec, std::int64_t index);

/// Returns the last cell of a classification of texts: the mean over the words of each text, then a linear layer that
/// gives the logits y (N,1,1,classes). It reads the feature spec.lengths.
std::unique_ptr<Cell> text_classifier(const EncoderSpec& spec, std::int64_t num_classes);

}  // namespace convoy
