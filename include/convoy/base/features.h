/// Names of the features of a sample, by which cells, the loss and data sets refer to them, and of the kinds of input.
#pragma once

#include <string_view>

#include "convoy/base/tensor_spec.h"

namespace convoy::features {

inline constexpr const char* kImage = "image";             ///< (N,H,W,C), of the network's type
inline constexpr const char* kLabel = "label";             ///< (N) std::int32_t; kNoLabel after the data's end
inline constexpr const char* kMixedLabel = "mixed_label";  ///< (N) ops::MixedLabel: what a label is mixed with
inline constexpr const char* kTokens = "tokens";           ///< (N,T) std::int32_t; ops::kNoToken after a text's end
inline constexpr const char* kLength =
    "length";  ///< (N) std::int32_t: a text's tokens, in 1..T; 1 after the data's end

// Texts as BERT reads them (Devlin et al. 2018), all std::int32_t. After a text's end, and after the data's end,
// tokens, positions and labels are ops::kNoToken, ops::kNoPosition and ops::kNoLabel, and a length is 1. With marks a
// text is [CLS] text [SEP].
inline constexpr const char* kMarkedTokens = "marked_tokens";      ///< (N,T)
inline constexpr const char* kMarkedSegments = "marked_segments";  ///< (N,T): 0 for each token
inline constexpr const char* kMarkedLength = "marked_length";      ///< (N)
// Two spans A and B of a text, drawn anew in each epoch, with some of their words masked: [CLS] A [SEP] B [SEP].
inline constexpr const char* kPairTokens = "pair_tokens";            ///< (N,T): masked words are replaced
inline constexpr const char* kPairSegments = "pair_segments";        ///< (N,T): 0 up to the first [SEP], then 1
inline constexpr const char* kPairLength = "pair_length";            ///< (N)
inline constexpr const char* kMaskedPositions = "masked_positions";  ///< (N,K), ascending; K = max_masked_words(T)
inline constexpr const char* kMaskedWords = "masked_words";    ///< (N,K): the tokens that were there before masking
inline constexpr const char* kNextSentence = "next_sentence";  ///< (N): 1 if B follows A, else 0

inline TensorSpec label_spec(std::int64_t n) {
  return {.shape = {n, 1, 1, 1}, .type = DataType::kInt32};
}
/// The spec of mixed labels: two 32-bit integers per sample, a label and the bits of its share.
inline TensorSpec mixed_label_spec(std::int64_t n) {
  return {.shape = {n, 1, 1, 2}, .type = DataType::kInt32};
}

/// The spec of the tokens of n texts of up to `length` tokens.
inline TensorSpec tokens_spec(std::int64_t n, std::int64_t length) {
  return {.shape = {n, length, 1, 1}, .type = DataType::kInt32};
}
inline TensorSpec length_spec(std::int64_t n) {
  return {.shape = {n, 1, 1, 1}, .type = DataType::kInt32};
}
/// The number of words that are masked at most in a text of that many tokens: 15 %, at least one.
constexpr std::int64_t max_masked_words(std::int64_t num_tokens) {
  return num_tokens < 7 ? 1 : (15 * num_tokens + 50) / 100;
}
/// The spec of the masked words of n texts of up to `length` tokens.
inline TensorSpec masked_words_spec(std::int64_t n, std::int64_t length) {
  return tokens_spec(n, max_masked_words(length));
}

}  // namespace convoy::features

/// The kinds of input, by the words that data sets and checkpoints store.
namespace convoy::input_kinds {

inline constexpr const char* kImages = "images";
inline constexpr const char* kText = "text";

/// The word for one sample of this kind; with an s appended, for several.
constexpr std::string_view one_of(std::string_view kind) {
  return kind == kText ? "text" : "image";
}

}  // namespace convoy::input_kinds
