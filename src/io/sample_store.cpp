/// What a store says that is asked for another kind of samples than it has.
#include "convoy/io/sample_store.h"

#include "convoy/base/error.h"

namespace convoy::io {

namespace {

[[noreturn]] void fail_to_give(const char* what, const DatasetInfo& info) {
  fail("{} was asked for, '{}' holds {}", what, info.source, info.kind);
}

}  // namespace

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
