/// Products of extents, which are checked before they are computed.
#include "io/arrays/array_form.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "convoy/base/error.h"

namespace convoy::io {

namespace {

constexpr std::int64_t kMaxArrayBytes = std::numeric_limits<std::int64_t>::max() / 8;

}  // namespace

void check_dims(std::span<const std::int64_t> dims, std::int64_t value_bytes) {
  if (dims.empty()) fail("it is a single number, and not an array with an extent for its samples");
  if (dims.size() > kMaxArrayRank)
    fail("its shape ({}) has {} extents. Allowed: {}, for samples, channels, slices, rows and columns",
         fmt::join(dims, ", "), dims.size(), kMaxArrayRank);
  if (std::ranges::find(dims, 0) != dims.end())
    fail("it has no values: its shape is ({}{})", fmt::join(dims, ", "), dims.size() == 1 ? "," : "");
  std::int64_t bytes = value_bytes;
  for (const std::int64_t dim : dims) {
    if (dim > kMaxArrayBytes / bytes) fail("its shape ({}) is larger than any file", fmt::join(dims, ", "));
    bytes *= dim;
  }
}

std::int64_t ArrayForm::values_of_sample() const {
  std::int64_t product = 1;
  for (std::size_t i = 1; i < dims.size(); ++i) product *= dims[i];
  return product;
}

std::string to_string(const ArrayForm& form) {
  return fmt::format("{} ({})", form.type ? to_string(*form.type) : "text", fmt::join(form.dims, ", "));
}

}  // namespace convoy::io
