/// Checks the bytes of a SentencePiece model before SentencePiece reads them, which does not check them itself.
#pragma once

#include <string_view>

namespace convoy {

/// Throws Error if learn_subwords() cannot have made the model: it is not a protobuf message, its kind is not unigram,
/// or its table of letters has offsets outside of itself, with which SentencePiece would read other memory.
void check_subword_model(std::string_view model);

}  // namespace convoy
