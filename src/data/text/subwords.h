/// Divides words into subwords as tokens, by SentencePiece (Kudo & Richardson 2018). A word is unknown only if it has
/// letters that the model has not learnt.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "convoy/io/tokenization.h"

#include "data/text/tokenizer.h"

namespace convoy {

/// Number of bytes of text from which SentencePiece learns. More text takes longer and hardly changes the subwords.
inline constexpr std::int64_t kSubwordTrainingBytes = std::int64_t{8} << 20;

/// Learns a unigram model (Kudo 2018) of at most `vocabulary` tokens, in lower case, from texts that check_text() has
/// accepted. The same texts in the same order give the same model. Throws RequestError if there are too few texts.
io::Tokenization learn_subwords(const std::vector<std::string>& texts, std::int64_t vocabulary);

/// Makes the tokenizer for subwords. Throws Error if the model is not one that learn_subwords() can have made.
std::unique_ptr<Tokenizer> make_subword_tokenizer(const io::Tokenization& tokenization);

/// Checks the bytes of a SentencePiece model before SentencePiece reads them, which does not check them itself. Throws
/// Error if learn_subwords() cannot have made the model: it is not a protobuf message, its kind is not unigram, or its
/// table of letters has offsets outside of itself, with which SentencePiece would read other memory.
void check_subword_model(std::string_view model);

}  // namespace convoy
