/// The features that cells can read, by the kind of the samples.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "convoy/base/error.h"
#include "convoy/base/features.h"
#include "convoy/base/text.h"

#include "model/layer_functions.h"
#include "model/listed_cell.h"

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

bool is_of_texts(const std::string& name) {
  return std::ranges::find(kTextFeatures, name, &FeatureKind::name) != std::end(kTextFeatures);
}

Value add_numbers(CellBuilder& cell, const std::string& name, Shape of_sample, std::int64_t n) {
  of_sample.n = n;
  return cell.feature(name, {.shape = of_sample, .type = cell.type()});
}

FeatureValue add_feature_of(CellBuilder& cell, const std::string& name, const ArrayShapes& arrays,
                            const ListedCellSpec& spec) {
  if (const NamedShape* const array = arrays.find(name))
    return {.value = add_numbers(cell, name, array->shape, spec.micro_batch)};
  const bool is_class = spec.target.kind == TargetKind::kClass;
  if (name == features::kLabel && is_class)
    return {.value = cell.feature(name, features::label_spec(spec.micro_batch), spec.num_classes),
            .kind = ValueKind::kLabels,
            .num_values = spec.num_classes};
  if (name == features::kTarget && !is_class)
    return {.value = cell.feature(name, features::target_spec(spec.target, spec.micro_batch)),
            .kind = ValueKind::kTargets};
  if (name == features::kLabel || name == features::kTarget)
    refuse("the targets of the data are {}, which have the feature '{}' and not '{}'", outputs_of(spec.target.kind),
           is_class ? features::kLabel : features::kTarget, name);
  const std::string held = to_string(InputShape(arrays));
  if (name == features::kImage)
    refuse("the network reads images, and the data holds arrays: {}. A single array with rows and columns is an image",
           held);
  if (is_of_texts(name))
    refuse("the network reads texts, and the data holds arrays: {}. Give a network of arrays, or a data set of texts",
           held);
  std::vector<std::string> names;
  for (const NamedShape& array : arrays.inputs) names.push_back(array.name);
  const std::string suggestion = nearest(name, names);
  refuse("the data holds the {} {}, and not '{}'.{}", names.size() == 1 ? "array" : "arrays", held, excerpt(name),
         suggestion.empty() ? "" : " Nearest: " + suggestion);
}

FeatureValue add_feature_of(CellBuilder& cell, const std::string& name, const ImageShape& image,
                            const ListedCellSpec& spec) {
  if (name == features::kImage) return {.value = add_numbers(cell, name, image.batch(1), spec.micro_batch)};
  if (is_of_texts(name))
    refuse("the network reads texts, and the data holds images. Give a network of images, or a data set of texts");
  refuse("the data holds images, which have the feature '{}' and not '{}'", features::kImage, excerpt(name));
}

FeatureValue add_feature_of(CellBuilder& cell, const std::string& name, const TextShape& text,
                            const ListedCellSpec& spec) {
  if (name == features::kImage)
    refuse("the network reads images, and the data holds texts. Give a network of texts, or a data set of images");
  const auto found = std::ranges::find(kTextFeatures, name, &FeatureKind::name);
  if (found == std::end(kTextFeatures)) {
    std::vector<std::string> names;
    for (const FeatureKind& kind : kTextFeatures) names.emplace_back(kind.name);
    refuse("the data holds texts, which do not have the feature '{}'. They have: {}", excerpt(name),
           fmt::join(names, ", "));
  }
  const std::int64_t num_values = found->num_values(text);
  return {.value = cell.feature(name, found->spec(spec.micro_batch, text), num_values),
          .kind = found->kind,
          .num_values = num_values};
}

}  // namespace

FeatureValue add_feature(CellBuilder& cell, const std::string& name, const ListedCellSpec& spec) {
  return std::visit([&](const auto& input) { return add_feature_of(cell, name, input, spec); }, spec.input);
}

}  // namespace convoy
