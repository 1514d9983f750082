/// Tokens that are no words: the same in every vocabulary, so that networks can rely on them.
#pragma once

#include <cstdint>

namespace convoy::special_tokens {

inline constexpr std::int32_t kPadding = 0;
inline constexpr std::int32_t kUnknown = 1;  ///< a word that the vocabulary lacks
inline constexpr std::int32_t kBegin = 2;    ///< [CLS], before a text; its output represents the whole text
inline constexpr std::int32_t kSeparator = 3;
inline constexpr std::int32_t kMask = 4;  ///< replaces a word that is to be guessed
inline constexpr std::int32_t kCount = 5;

/// Their names in SentencePiece's models.
inline constexpr const char* kNames[kCount] = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};

}  // namespace convoy::special_tokens
