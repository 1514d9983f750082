/// The features that cells can read, by the kind of the samples.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "convoy/base/error.h"
#include "convoy/base/features.h"
#include "convoy/base/text.h"

#include "model/layer_functions.h"

namespace convoy {

namespace {

struct FeatureKind {
  const char* name;
  TensorSpec (*spec)(std::int64_t n, const TextShape& text);
  std::int64_t (*num_values)(const TextShape& text);  ///< see Feature::num_values
  ValueKind kind;
};

TensorSpec words_spec(std::int64_t n, const TextShape& text) {
  return features::tokens_spec(n, text.length);
}
TensorSpec sample_spec(std::int64_t n, const TextShape&) {
  return features::length_spec(n);
}
TensorSpec masked_spec(std::int64_t n, const TextShape& text) {
  return features::masked_words_spec(n, text.length);
}
std::int64_t two(const TextShape&) {
  return 2;
}
std::int64_t num_tokens(const TextShape& text) {
  return text.vocabulary;
}
std::int64_t length(const TextShape& text) {
  return text.length;
}
std::int64_t num_lengths(const TextShape& text) {
  return text.length + 1;
}

constexpr FeatureKind kTextFeatures[] = {{features::kTokens, words_spec, num_tokens, ValueKind::kTokens},
                                         {features::kLength, sample_spec, num_lengths, ValueKind::kLengths},
                                         {features::kMarkedTokens, words_spec, num_tokens, ValueKind::kTokens},
                                         {features::kMarkedSegments, words_spec, two, ValueKind::kTokens},
                                         {features::kMarkedLength, sample_spec, num_lengths, ValueKind::kLengths},
                                         {features::kPairTokens, words_spec, num_tokens, ValueKind::kTokens},
                                         {features::kPairSegments, words_spec, two, ValueKind::kTokens},
                                         {features::kPairLength, sample_spec, num_lengths, ValueKind::kLengths},
                                         {features::kMaskedPositions, masked_spec, length, ValueKind::kPositions},
                                         {features::kMaskedWords, masked_spec, num_tokens, ValueKind::kLabels},
                                         {features::kNextSentence, sample_spec, two, ValueKind::kLabels}};

}  // namespace

FeatureValue add_feature(CellBuilder& cell, const std::string& name, const InputShape& input, std::int64_t n) {
  if (std::holds_alternative<ArrayShapes>(input))
    refuse("networks cannot read arrays yet, and the data holds arrays: {}", to_string(input));
  const auto found = std::ranges::find(kTextFeatures, name, &FeatureKind::name);
  const bool is_of_texts = found != std::end(kTextFeatures);
  if (const auto* const image = std::get_if<ImageShape>(&input)) {
    if (name == features::kImage) return {.value = cell.feature(name, {image->batch(n), cell.type()})};
    if (is_of_texts)
      refuse("the network reads texts, and the data holds images. Give a network of images, or a data set of texts");
    refuse("the data holds images, which have the feature '{}' and not '{}'", features::kImage, excerpt(name));
  }
  if (name == features::kImage)
    refuse("the network reads images, and the data holds texts. Give a network of texts, or a data set of images");
  if (!is_of_texts) {
    std::vector<std::string> names;
    for (const FeatureKind& kind : kTextFeatures) names.emplace_back(kind.name);
    refuse("the data holds texts, which do not have the feature '{}'. They have: {}", excerpt(name),
           fmt::join(names, ", "));
  }
  const TextShape& text = std::get<TextShape>(input);
  const std::int64_t num_values = found->num_values(text);
  return {.value = cell.feature(name, found->spec(n, text), num_values), .kind = found->kind, .num_values = num_values};
}

}  // namespace convoy
