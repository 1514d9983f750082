/// Messages about what a store lacks: samples of another kind, or of some classes.
#include "convoy/io/sample_store.h"

#include <fmt/format.h>

#include "convoy/base/wording.h"

namespace convoy::io {

namespace {

[[noreturn]] void fail_to_give(const char* what, const DatasetInfo& info) {
  fail("{} was requested, but '{}' holds {}", what, info.source, info.kind);
}

constexpr std::size_t kShownClasses = 5;

}  // namespace

std::string describe_empty_classes(const DatasetInfo& info) {
  std::vector<std::string> empty;
  for (std::size_t c = 0; c < info.class_counts.size(); ++c)
    if (info.class_counts[c] == 0) empty.push_back(info.class_names[c]);
  if (empty.empty()) return "";
  return fmt::format("{} of {} classes {} no sample: {}", empty.size(), info.class_names.size(),
                     empty.size() == 1 ? "has" : "have", first_few(empty, kShownClasses));
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

}  // namespace convoy::io
