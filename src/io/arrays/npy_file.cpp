/// Reads ranges of samples from arrays in NumPy's format: row by row as they lie, or gathered from columns.
#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "convoy/base/error.h"
#include "convoy/base/file_descriptor.h"
#include "convoy/io/atomic_file.h"

#include "io/arrays/byte_source.h"
#include "io/arrays/npy_header.h"

namespace convoy::io {

namespace {

class FileBytes final : public ByteSource {
 public:
  explicit FileBytes(const std::string& path)
      : path_(path), file_(open_for_reading(path)), size_bytes_(static_cast<std::int64_t>(file_size(file_, path))) {}

  std::string name() const override { return fmt::format("'{}'", path_); }
  std::int64_t size_bytes() const override { return size_bytes_; }
  bool has_random_access() const override { return true; }
  void read(std::int64_t offset, std::span<std::byte> bytes) override {
    read_at(file_, static_cast<std::uint64_t>(offset), bytes, path_);
  }

 private:
  std::string path_;
  FileDescriptor file_;
  std::int64_t size_bytes_;
};

template <std::size_t kBytes>
void swap_units(std::span<std::byte> values) {
  for (std::size_t i = 0; i + kBytes <= values.size(); i += kBytes)
    std::reverse(values.begin() + static_cast<std::ptrdiff_t>(i),
                 values.begin() + static_cast<std::ptrdiff_t>(i + kBytes));
}

// Reverses the bytes of each number.
void swap_bytes(std::span<std::byte> values, std::int64_t unit_bytes) {
  if (unit_bytes == 2) swap_units<2>(values);
  if (unit_bytes == 4) swap_units<4>(values);
  if (unit_bytes == 8) swap_units<8>(values);
}

// Appends a character in UTF-8. Returns false if the code is not that of a character.
bool append_character(std::uint32_t code, std::string& text) {
  const auto put = [&](std::uint32_t byte) { text.push_back(static_cast<char>(byte)); };
  const auto put_rest = [&](int shift) { put(0x80u | (code >> shift & 0x3fu)); };
  if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return false;
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xc0u | code >> 6), put_rest(0);
  } else if (code < 0x10000) {
    put(0xe0u | code >> 12), put_rest(6), put_rest(0);
  } else {
    put(0xf0u | code >> 18), put_rest(12), put_rest(6), put_rest(0);
  }
  return true;
}

class NpyArray final : public ArrayReader {
 public:
  explicit NpyArray(std::unique_ptr<ByteSource> source) : source_(std::move(source)) {
    std::vector<std::byte> begin(static_cast<std::size_t>(std::min<std::int64_t>(size_bytes(), kNpyPrefixBytes)));
    source_->read(0, begin);
    const NpyPrefix prefix = read_npy_prefix(begin);
    values_offset_ = static_cast<std::int64_t>(prefix.end());
    if (values_offset_ > size_bytes()) fail("it is truncated: it ends within its header");
    std::string dictionary(prefix.length, '\0');
    source_->read(static_cast<std::int64_t>(prefix.offset), std::as_writable_bytes(std::span(dictionary)));
    header_ = parse_npy_header(dictionary);
    check_size();
  }

  const ArrayForm& form() const override { return header_.form; }

  void read(std::int64_t first, std::int64_t count, std::span<std::byte> values) override {
    if (!form().type) fail("{}: numbers were requested, but it holds texts", source_->name());
    read_values(first, count, values);
  }

  std::vector<std::string> read_texts(std::int64_t first, std::int64_t count) override {
    if (form().type || form().values_of_sample() != 1)
      fail("{}: a text for each sample was requested, but it holds {}", source_->name(), to_string(form()));
    std::vector<std::byte> values(static_cast<std::size_t>(count * header_.value_bytes));
    read_values(first, count, values);
    std::vector<std::string> texts;
    const auto text_bytes = static_cast<std::size_t>(header_.value_bytes);
    for (std::size_t i = 0; i < values.size(); i += text_bytes)
      texts.push_back(text_of(std::span(values).subspan(i, text_bytes)));
    return texts;
  }

 private:
  std::int64_t size_bytes() const { return source_->size_bytes(); }
  // With one extent, or with all others 1, both orders are the same.
  bool is_gathered() const { return header_.is_fortran_order && form().values_of_sample() > 1; }

  void check_size() const {
    const std::int64_t wanted = header_.size_bytes(), found = size_bytes() - values_offset_;
    if (found < wanted)
      fail("it is truncated: its {} need {} bytes, but {} follow its header", to_string(form()), wanted, found);
    if (found > wanted)
      fail(
          "it has {} bytes after its {}. A file holds one array: save others to files of their own, or use "
          "numpy.savez",
          found - wanted, to_string(form()));
    if (is_gathered() && !source_->has_random_access())
      fail(
          "it is compressed and in Fortran order, so that a sample's values lie far apart. Save it again with "
          "numpy.ascontiguousarray(x)");
  }

  void read_values(std::int64_t first, std::int64_t count, std::span<std::byte> values) {
    const std::int64_t num_values = count * form().values_of_sample();
    if (first < 0 || count < 0 || first > form().num_samples() - count ||
        std::ssize(values) != num_values * header_.value_bytes)
      fail("{}: samples {} to {} were requested into {} bytes, but it holds {}", source_->name(), first,
           first + count - 1, values.size(), to_string(form()));
    if (is_gathered())
      gather(first, count, values);
    else
      source_->read(values_offset_ + first * form().values_of_sample() * header_.value_bytes, values);
    if (header_.is_big_endian) swap_bytes(values, header_.unit_bytes);
  }

  // Reads an array whose first index, that of the sample, varies fastest: each position in a sample has a run of the
  // values of all samples.
  void gather(std::int64_t first, std::int64_t count, std::span<std::byte> values) {
    const std::vector<std::int64_t>& dims = form().dims;
    const std::int64_t num_samples = form().num_samples(), num_positions = form().values_of_sample();
    const auto value_bytes = static_cast<std::size_t>(header_.value_bytes);
    std::vector<std::int64_t> strides(dims.size(), 1);  // in a sample, the last index fastest
    for (std::size_t axis = dims.size() - 1; axis-- > 1;) strides[axis] = strides[axis + 1] * dims[axis + 1];
    std::vector<std::int64_t> index(dims.size(), 0);
    std::vector<std::byte> run(static_cast<std::size_t>(count) * value_bytes);
    for (std::int64_t i = 0; i < num_positions; ++i) {
      source_->read(values_offset_ + (i * num_samples + first) * header_.value_bytes, run);
      std::int64_t position = 0;
      for (std::size_t axis = 1; axis < dims.size(); ++axis) position += index[axis] * strides[axis];
      for (std::int64_t n = 0; n < count; ++n)
        std::memcpy(values.data() + static_cast<std::size_t>(n * num_positions + position) * value_bytes,
                    run.data() + static_cast<std::size_t>(n) * value_bytes, value_bytes);
      for (std::size_t axis = 1; axis < dims.size() && ++index[axis] == dims[axis]; ++axis) index[axis] = 0;
    }
  }

  // Returns the text up to the zeros that fill it up.
  std::string text_of(std::span<const std::byte> value) const {
    std::string text;
    if (!header_.is_unicode) {
      text.assign(reinterpret_cast<const char*>(value.data()), value.size());
      text.resize(text.find_last_not_of('\0') + 1);
      return text;
    }
    std::size_t end = value.size();
    const auto code_at = [&](std::size_t offset) {
      std::uint32_t code = 0;
      std::memcpy(&code, value.data() + offset, sizeof code);
      return code;
    };
    while (end > 0 && code_at(end - 4) == 0) end -= 4;
    for (std::size_t i = 0; i < end; i += 4)
      if (!append_character(code_at(i), text))
        fail("{} is damaged: a text has a character {:#x}, which does not exist", source_->name(), code_at(i));
    return text;
  }

  std::unique_ptr<ByteSource> source_;
  NpyHeader header_;
  std::int64_t values_offset_ = 0;
};

}  // namespace

std::unique_ptr<ArrayReader> read_npy_from(std::unique_ptr<ByteSource> source) {
  const std::string name = source->name();
  try {
    return std::make_unique<NpyArray>(std::move(source));
  } catch (const Error& error) {
    refuse("{}: {}", name, error.what());
  }
}

std::unique_ptr<ArrayReader> open_npy(const std::string& path) {
  std::unique_ptr<ByteSource> file;
  try {
    file = std::make_unique<FileBytes>(path);
  } catch (const Error& error) {
    refuse("{}", error.what());
  }
  return read_npy_from(std::move(file));
}

}  // namespace convoy::io
