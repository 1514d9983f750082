/// The cells of Transformers that read text.
#pragma once

#include <memory>

#include "convoy/model/network.h"
#include "convoy/params/model_parameters.h"

#include "model/cell_builder.h"

namespace convoy {

/// The properties that all cells of one network share.
struct EncoderSpec {
  std::int64_t n = 0;          ///< sequences per micro-batch
  std::int64_t length = 0;     ///< T, words per sequence
  std::int64_t num_words = 0;  ///< V, size of the vocabulary
  TransformerParams shape;
  DataType type = DataType::kFloat32;
  const char* lengths = features::kLength;  ///< name of the feature with the sequences' lengths

  Shape x() const { return {n, length, 1, shape.width}; }
};

/// The spec of a network that reads texts. Throws RequestError if its heads cannot share its width, or the data holds
/// images.
EncoderSpec encoder_spec(const NetworkSpec& spec);

/// The sum of a vector for each token (N,T,1,1) and one for its position: y (N,T,1,C).
Value embed_tokens(const Value& tokens, const EncoderSpec& spec);

/// Turns words and positions into vectors: reads tokens; y (N,T,1,C).
std::unique_ptr<Cell> text_embedding(const EncoderSpec& spec);

/// torch.nn.TransformerEncoderLayer number `index`: x, y (N,T,1,C); reads length.
std::unique_ptr<Cell> encoder_layer(const EncoderSpec& spec, std::int64_t index);

/// The mean over the words, and a linear layer: y (N,1,1,classes); reads length.
std::unique_ptr<Cell> text_classifier(const EncoderSpec& spec, std::int64_t num_classes);

}  // namespace convoy
