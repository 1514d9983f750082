/// Messages about what a store lacks: samples of another kind, or of some classes.
#include "convoy/io/sample_store.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "convoy/base/wording.h"

namespace convoy::io {

namespace {

[[noreturn]] void fail_to_give(const char* what, const DatasetInfo& info) {
  fail("{} was requested, but '{}' holds {}", what, info.source, info.kind);
}

constexpr std::size_t kShownClasses = 5;

}  // namespace

std::int64_t ArrayInfo::bytes() const {
  return std::accumulate(dims.begin(), dims.end(), size_of(type), std::multiplies<>());
}

std::string describe_form(const ArrayInfo& array) {
  return fmt::format("{} ({})", to_string(array.type), fmt::join(array.dims, ", "));
}

std::string describe_forms(std::span<const ArrayInfo> arrays) {
  std::vector<std::string> texts;
  for (const ArrayInfo& array : arrays) texts.push_back(fmt::format("{} {}", array.name, describe_form(array)));
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string describe_extents(const Target& target, std::int64_t num_outputs) {
  return target.is_in_record() ? fmt::format("({})", fmt::join(target.dims, ", ")) : fmt::format("({})", num_outputs);
}

std::string describe_pixels(const Target& target) {
  return fmt::format("{}", fmt::join(target.dims.begin(), target.dims.end() - 1, " x "));
}

std::string describe_place(const Target& target) {
  return target.is_field() ? fmt::format(" at each of {} pixels", describe_pixels(target)) : "";
}

const ArrayInfo* find_array(std::span<const ArrayInfo> arrays, std::string_view name) {
  const auto found = std::ranges::find(arrays, name, &ArrayInfo::name);
  return found == arrays.end() ? nullptr : &*found;
}

std::vector<ArrayInfo> record_of(std::vector<ArrayInfo> arrays, const Target& target) {
  if (target.is_in_record()) arrays.push_back({.name = features::kTarget, .dims = target.dims});
  return arrays;
}

std::int64_t DatasetInfo::record_bytes() const {
  if (kind != input_kinds::kArrays) return image.count();
  std::int64_t bytes = target.is_in_record() ? target.shape.count() * size_of(ElementType::kFloat32) : 0;
  for (const ArrayInfo& array : arrays) bytes += array.bytes();
  return bytes;
}

std::vector<std::pair<std::vector<double>*, std::vector<double>*>> DatasetInfo::statistics() {
  if (kind == input_kinds::kImages) return {{&channel_mean, &channel_stddev}};
  std::vector<std::pair<std::vector<double>*, std::vector<double>*>> lists;
  for (ArrayInfo& array : arrays) lists.emplace_back(&array.mean, &array.stddev);
  if (target.kind == TargetKind::kNumbers) lists.emplace_back(&target.mean, &target.stddev);
  return lists;
}

void DatasetInfo::use_statistics_outside(std::int64_t fold) {
  std::size_t next = fold_mean.size() / static_cast<std::size_t>(num_folds) * static_cast<std::size_t>(fold - 1);
  for (const auto& [mean, stddev] : statistics())
    for (std::size_t i = 0; i < mean->size(); ++i, ++next) {
      (*mean)[i] = fold_mean[next];
      (*stddev)[i] = fold_stddev[next];
    }
}

std::string describe_empty_classes(const DatasetInfo& info) {
  std::vector<std::string> empty;
  for (std::size_t c = 0; c < info.class_counts.size(); ++c)
    if (info.class_counts[c] == 0) empty.push_back(info.class_names[c]);
  if (empty.empty()) return "";
  return fmt::format("{} of {} {} {} no sample: {}", empty.size(), info.class_names.size(),
                     outputs_of(info.target.kind), empty.size() == 1 ? "has" : "have", first_few(empty, kShownClasses));
}

void SampleStore::read_pixels(std::int64_t, std::span<std::byte>) const {
  fail_to_give("an image's pixels", info());
}

std::span<const std::byte> SampleStore::read_file(std::int64_t, std::vector<std::byte>&) const {
  fail_to_give("an image's file", info());
}

std::int64_t SampleStore::num_tokens(std::int64_t) const {
  fail_to_give("a text's length", info());
}

std::span<const std::int32_t> SampleStore::read_tokens(std::int64_t, std::vector<std::int32_t>&) const {
  fail_to_give("a text", info());
}

std::span<const std::byte> SampleStore::read_array(std::int64_t, std::size_t, std::vector<std::byte>&) const {
  fail_to_give("an array", info());
}

void SampleStore::read_target(std::int64_t, std::span<float>) const {
  fail("labels or numbers were requested, but the targets of '{}' are {}", info().source,
       outputs_of(info().target.kind));
}

}  // namespace convoy::io
