/// What SentencePiece believes of its models' bytes without a look, looked at first.
#pragma once

#include <string_view>

namespace convoy {

/// Throws Error where the model is none of those that learn_subwords() makes: no message of protobuf's, of another kind
/// than unigram, or with a table of letters that points outside itself. SentencePiece would follow it there.
void check_subword_model(std::string_view model);

}  // namespace convoy
