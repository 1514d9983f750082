/// Lists tokens that stand for no word. They are the same in every vocabulary, so that networks can rely on them.
#pragma once

#include <cstdint>

namespace convoy::special_tokens {

inline constexpr std::int32_t kPadding = 0;
inline constexpr std::int32_t kUnknown = 1;  ///< stands for a word that the vocabulary lacks
inline constexpr std::int32_t kBegin = 2;    ///< [CLS], put before a text; its output represents the whole text
inline constexpr std::int32_t kSeparator = 3;
inline constexpr std::int32_t kMask = 4;  ///< [MASK], replaces a token that the network must predict
inline constexpr std::int32_t kCount = 5;

/// The names of the special tokens in SentencePiece's models, by token.
inline constexpr const char* kNames[kCount] = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};

}  // namespace convoy::special_tokens
