/// Values are written as they come; the header, of fixed length, is written last.
#include "convoy/io/npy_writer.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>
#include <string_view>
#include <utility>

#include <fmt/ranges.h>

#include "convoy/base/error.h"

namespace convoy::io {

namespace {

static_assert(std::endian::native == std::endian::little, "values are written as they are in memory");

// Version 1.0 of the format, and the length of the dictionary: the header has 128 bytes.
constexpr std::string_view kNpyPrefix("\x93NUMPY\x01\x00\x76\x00", 10);
constexpr std::size_t kHeaderBytes = 128;
// NumPy writes the type first: a file whose extents come first is one of ours.
constexpr std::string_view kOwnBegin = "{'shape': (";

std::string header_of(std::int64_t rows, const std::vector<std::int64_t>& dims) {
  const std::string dictionary =
      fmt::format("{}{}, {}), 'descr': '<f4', 'fortran_order': False}}", kOwnBegin, rows, fmt::join(dims, ", "));
  return fmt::format("{}{:<{}}\n", kNpyPrefix, dictionary, kHeaderBytes - kNpyPrefix.size() - 1);
}

}  // namespace

bool is_own_npy(const std::string& path) {
  const FileDescriptor file = open_for_reading(path);
  std::string begin(kNpyPrefix.size() + kOwnBegin.size(), '\0');
  if (file_size(file, path) < begin.size()) return false;
  read_at(file, 0, std::as_writable_bytes(std::span(begin)), path);
  return begin.starts_with(kNpyPrefix) && begin.ends_with(kOwnBegin);
}

NpyWriter::NpyWriter(const std::string& path, std::vector<std::int64_t> dims, std::int64_t max_rows)
    : dims_(std::move(dims)),
      width_(std::accumulate(dims_.begin(), dims_.end(), std::int64_t{1}, std::multiplies<>())),
      file_(path, kHeaderBytes + static_cast<std::uint64_t>(max_rows * width_) * sizeof(float)) {}

void NpyWriter::append(std::span<const float> values) {
  const std::uint64_t offset = kHeaderBytes + static_cast<std::uint64_t>(num_values_) * sizeof(float);
  file_.write_at(offset, std::as_bytes(values));
  num_values_ += std::ssize(values);
}

void NpyWriter::finish() {
  if (num_values_ % width_ != 0) fail("predictions: {} values are not whole rows of {}", num_values_, width_);
  const std::string header = header_of(num_values_ / width_, dims_);
  file_.write_at(0, std::as_bytes(std::span(header)));
  file_.finish();
}

}  // namespace convoy::io
