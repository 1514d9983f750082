/// Reads texts from files.
#include "data/text/text_source.h"

#include <filesystem>
#include <span>
#include <system_error>

#include "convoy/io/atomic_file.h"

#include "data/text/check_text.h"

namespace convoy {

namespace fs = std::filesystem;

std::string_view TextFiles::read(const SourceSplit& split, std::int64_t sample) {
  const std::string path = (fs::path(folder_) / split.names[sample]).string();
  const FileDescriptor file = io::open_for_reading(path);
  const auto size = static_cast<std::int64_t>(io::file_size(file, path));
  check_text_size(size);
  text_.resize(static_cast<std::size_t>(size));
  io::read_at(file, 0, std::as_writable_bytes(std::span(text_)), path);
  return check_text(text_);
}

std::int64_t TextFiles::text_bytes(const SourceSplit& split, std::int64_t sample) const {
  std::error_code unknown;
  const std::uintmax_t size = fs::file_size(fs::path(folder_) / split.names[sample], unknown);
  return unknown ? 0 : static_cast<std::int64_t>(size);
}

}  // namespace convoy
