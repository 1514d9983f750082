/// Names of what a sample has, in which cells, the loss and data sets meet; and of the kinds of input there are.
#pragma once

#include <string_view>

#include "convoy/base/tensor_spec.h"

namespace convoy::features {

inline constexpr const char* kImage = "image";             ///< (N,H,W,C), of the network's type
inline constexpr const char* kLabel = "label";             ///< (N) std::int32_t; kNoLabel past the data's end
inline constexpr const char* kMixedLabel = "mixed_label";  ///< (N) ops::MixedLabel: what a label is mixed with
inline constexpr const char* kTokens = "tokens";           ///< (N,T) std::int32_t; ops::kNoToken past a text's end
inline constexpr const char* kLength = "length";  ///< (N) std::int32_t: a text's tokens, in 1..T; 1 past the data's end

// Texts as BERT reads them (Devlin et al. 2018), all std::int32_t. Past a text's end, and past the data's, stand
// ops::kNoToken, ops::kNoPosition and ops::kNoLabel, and 1 as a length. With marks: [CLS] text [SEP].
inline constexpr const char* kMarkedTokens = "marked_tokens";      ///< (N,T)
inline constexpr const char* kMarkedSegments = "marked_segments";  ///< (N,T): 0 for each token
inline constexpr const char* kMarkedLength = "marked_length";      ///< (N)
// Two spans A and B, drawn anew in each epoch, some of whose words are masked: [CLS] A [SEP] B [SEP].
inline constexpr const char* kPairTokens = "pair_tokens";            ///< (N,T): words replaced where they are masked
inline constexpr const char* kPairSegments = "pair_segments";        ///< (N,T): 0 up to the first [SEP], then 1
inline constexpr const char* kPairLength = "pair_length";            ///< (N)
inline constexpr const char* kMaskedPositions = "masked_positions";  ///< (N,K), ascending; K = max_masked_words(T)
inline constexpr const char* kMaskedWords = "masked_words";          ///< (N,K): the tokens that stood there
inline constexpr const char* kNextSentence = "next_sentence";        ///< (N): 1 where B follows A, 0 where it does not

inline TensorSpec label_spec(std::int64_t n) {
  return {.shape = {n, 1, 1, 1}, .type = DataType::kInt32};
}
/// Of a mixed label: a label, and the bits of its share.
inline TensorSpec mixed_label_spec(std::int64_t n) {
  return {.shape = {n, 1, 1, 2}, .type = DataType::kInt32};
}

/// Texts of up to `length` tokens T.
inline TensorSpec tokens_spec(std::int64_t n, std::int64_t length) {
  return {.shape = {n, length, 1, 1}, .type = DataType::kInt32};
}
inline TensorSpec length_spec(std::int64_t n) {
  return {.shape = {n, 1, 1, 1}, .type = DataType::kInt32};
}
/// 15 % of so many tokens, at least one.
constexpr std::int64_t max_masked_words(std::int64_t num_tokens) {
  return num_tokens < 7 ? 1 : (15 * num_tokens + 50) / 100;
}
/// Of texts of up to `length` tokens.
inline TensorSpec masked_words_spec(std::int64_t n, std::int64_t length) {
  return tokens_spec(n, max_masked_words(length));
}

}  // namespace convoy::features

/// As the records of data sets and checkpoints say it.
namespace convoy::input_kinds {

inline constexpr const char* kImages = "images";
inline constexpr const char* kText = "text";

/// What people call one sample; with an s, several.
constexpr std::string_view one_of(std::string_view kind) {
  return kind == kText ? "text" : "image";
}

}  // namespace convoy::input_kinds
