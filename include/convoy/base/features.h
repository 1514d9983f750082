/// Names of the features of a sample, which cells, the loss and data sets use to refer to them, and names of the kinds
/// of input. N is the number of samples, T the number of tokens, K the number of masked tokens.
#pragma once

#include <string_view>

#include "convoy/base/target.h"
#include "convoy/base/tensor_spec.h"

namespace convoy::features {

inline constexpr const char* kImage = "image";  ///< pixels of the images, (N,H,W,C), in the network's storage type
inline constexpr const char* kLabel = "label";  ///< class labels, (N) std::int32_t; ops::kNoLabel for padding samples
inline constexpr const char* kMixedLabel = "mixed_label";  ///< second labels of mixed images, (N) ops::MixedLabel
/// Labels (0 or 1) or numbers that a network has to answer, (N,D,H,W,K) float32, in the user's units; NaN for values
/// that are not known, and for padding samples.
inline constexpr const char* kTarget = "target";
/// Tokens of texts, (N,T) std::int32_t; ops::kNoToken after a text's end.
inline constexpr const char* kTokens = "tokens";
/// Numbers of tokens of texts, (N) std::int32_t, in 1..T; 1 for padding samples.
inline constexpr const char* kLength = "length";

// Texts as BERT reads them (Devlin et al. 2018): [CLS] text [SEP]. All are std::int32_t. After a text's end, and in
// padding samples, tokens, positions and labels are ops::kNoToken, ops::kNoPosition and ops::kNoLabel; the length of a
// padding sample is 1.
inline constexpr const char* kMarkedTokens = "marked_tokens";  ///< tokens of [CLS] text [SEP], (N,T)
/// BERT's segments of kMarkedTokens, (N,T): always 0
inline constexpr const char* kMarkedSegments = "marked_segments";
inline constexpr const char* kMarkedLength = "marked_length";  ///< numbers of tokens in kMarkedTokens, (N)
// Two spans A and B of a text, selected at random in each epoch, with some of their tokens masked: [CLS] A [SEP] B
// [SEP].
/// Tokens of [CLS] A [SEP] B [SEP], (N,T), masked ones replaced.
inline constexpr const char* kPairTokens = "pair_tokens";
/// BERT's segments of kPairTokens, (N,T): 0 up to the first [SEP], then 1.
inline constexpr const char* kPairSegments = "pair_segments";
inline constexpr const char* kPairLength = "pair_length";  ///< numbers of tokens in kPairTokens, (N)
/// Positions of the masked tokens, (N,K), ascending; K = max_masked_words(T).
inline constexpr const char* kMaskedPositions = "masked_positions";
inline constexpr const char* kMaskedWords = "masked_words";  ///< original tokens at kMaskedPositions, (N,K)
/// Labels of next-sentence prediction, (N): 1 if B follows A, else 0.
inline constexpr const char* kNextSentence = "next_sentence";

/// Shape and type of the class labels of n samples.
inline TensorSpec label_spec(std::int64_t n) {
  return {.shape = Shape::vectors(n, 1), .type = DataType::kInt32};
}
/// Shape and type of kMixedLabel for n samples: two 32-bit integers per sample, a label and the bits of its share.
inline TensorSpec mixed_label_spec(std::int64_t n) {
  return {.shape = Shape::vectors(n, 2), .type = DataType::kInt32};
}

/// Shape and type of kTarget for n samples.
inline TensorSpec target_spec(const Target& target, std::int64_t n) {
  TensorSpec spec{.shape = target.shape};
  spec.shape.n = n;
  return spec;
}

/// Shape and type of the tokens of n texts of up to `length` tokens.
inline TensorSpec tokens_spec(std::int64_t n, std::int64_t length) {
  return {.shape = Shape::sequences(n, length, 1), .type = DataType::kInt32};
}
/// Shape and type of the lengths of n texts.
inline TensorSpec length_spec(std::int64_t n) {
  return {.shape = Shape::vectors(n, 1), .type = DataType::kInt32};
}
/// Largest number of tokens that are masked in a text of `num_tokens` tokens: 15 %, at least one.
constexpr std::int64_t max_masked_words(std::int64_t num_tokens) {
  return num_tokens < 7 ? 1 : (15 * num_tokens + 50) / 100;
}
/// Shape and type of the masked tokens of n texts of up to `length` tokens.
inline TensorSpec masked_words_spec(std::int64_t n, std::int64_t length) {
  return tokens_spec(n, max_masked_words(length));
}

}  // namespace convoy::features

/// The names of the kinds of input, which data sets and checkpoints store.
namespace convoy::input_kinds {

inline constexpr const char* kImages = "images";
inline constexpr const char* kText = "text";
inline constexpr const char* kArrays = "arrays";
inline constexpr const char* kAll[] = {kImages, kText, kArrays};

/// The word for one sample of this kind, "text", "sample" (of arrays) or "image"; an appended s makes the plural.
constexpr std::string_view one_of(std::string_view kind) {
  return kind == kText ? "text" : kind == kArrays ? "sample" : "image";
}

}  // namespace convoy::input_kinds
