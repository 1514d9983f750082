/// Checks what SentencePiece takes from a model's bytes without a check.
#pragma once

#include <string_view>

namespace convoy {

/// Throws Error if the model is not one that learn_subwords() makes: it is not a message of protobuf's, of another kind
/// than unigram, or has a table of letters that points outside of itself, to where SentencePiece would follow it.
void check_subword_model(std::string_view model);

}  // namespace convoy
