/// Names of what a sample has, in which cells, the loss and data sets meet; and of the kinds of input there are.
#pragma once

#include <string_view>

#include "convoy/base/tensor_spec.h"

namespace convoy::features {

inline constexpr const char* kImage = "image";  ///< (N,H,W,C), of the network's type
inline constexpr const char* kLabel = "label";  ///< (N) std::int32_t; kNoLabel past the data's end
inline constexpr const char* kMixedLabel =
    "mixed_label";                                ///< (N) ops::MixedLabel: what augment.mixup mixes a label with
inline constexpr const char* kTokens = "tokens";  ///< (N,T) std::int32_t; ops::kNoToken past a text's end
inline constexpr const char* kLength = "length";  ///< (N) std::int32_t: a text's tokens, in 1..T; 1 past the data's end

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
