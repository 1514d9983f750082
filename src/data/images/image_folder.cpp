/// Reads the files of images.
#include "data/images/image_folder.h"

#include <algorithm>
#include <filesystem>

#include "convoy/base/error.h"
#include "convoy/io/atomic_file.h"

namespace convoy {

namespace {

namespace fs = std::filesystem;

// Bytes read for a header: what precedes a JPEG's dimensions (colour profiles, a small preview) is seldom longer.
constexpr std::uint64_t kHeaderBytes = std::uint64_t{64} << 10;

FileDescriptor open_image(const std::string& path) {
  try {
    return io::open_for_reading(path);
  } catch (const Error&) {
    std::error_code error;
    if (!fs::is_symlink(path, error) || fs::status(path, error).type() != fs::file_type::not_found) throw;
    fail("it is a link to '{}', which does not exist", fs::read_symlink(path, error).string());
  }
}

}  // namespace

std::uint64_t read_image_file(const std::string& path, std::uint64_t max_bytes, std::vector<std::byte>& file) {
  const FileDescriptor opened = open_image(path);
  const std::uint64_t size = io::file_size(opened, path);
  if (size > kMaxImageFileBytes) fail("it is too long: {} bytes; at most {} are allowed", size, kMaxImageFileBytes);
  file.resize(std::min(size, max_bytes));
  io::read_at(opened, 0, file, path);
  return size;
}

// --- Imported --------------------------------------------------------------------------------------------------------

FolderSource::FolderSource(std::string root, SourceListing listing, bool orients)
    : ImageSource(std::move(listing)), root_(std::move(root)), decoder_(orients) {}

void FolderSource::fetch(const SourceSplit& split, std::int64_t sample, std::uint64_t max_bytes) {
  const std::string path = (fs::path(root_) / split.names[sample]).string();
  whole_ = read_image_file(path, max_bytes, file_) == file_.size();
}

std::int64_t FolderSource::file_bytes(const SourceSplit& split, std::int64_t sample) const {
  std::error_code unknown;
  const std::uintmax_t size = fs::file_size(fs::path(root_) / split.names[sample], unknown);
  return unknown ? 0 : static_cast<std::int64_t>(size);
}

ImageHeader FolderSource::read_header(const SourceSplit& split, std::int64_t sample) {
  fetch(split, sample, kHeaderBytes);
  try {
    return decoder_.read_header(file_);
  } catch (const Error&) {
    if (whole_) throw;
  }
  fetch(split, sample, kMaxImageFileBytes);
  return decoder_.read_header(file_);
}

ImageView FolderSource::read(const SourceSplit& split, std::int64_t sample, const DecodeRequest& request) {
  fetch(split, sample, kMaxImageFileBytes);
  return decoder_.decode(file_, request);
}

// --- Used without an import ----------------------------------------------------------------------------------

ImageFolder::ImageFolder(std::string folder, SourceListing listing, std::int64_t channels, bool orients)
    : listing_(std::move(listing)) {
  info_.image = {0, 0, channels};
  info_.encoded = true;
  info_.oriented = orients;
  info_.num_samples = files().size();
  info_.class_names = listing_.class_names;
  info_.source = std::move(folder);
}

std::span<const std::byte> ImageFolder::read_file(std::int64_t sample, std::vector<std::byte>& memory) const {
  read_image_file((fs::path(info_.source) / files().names[sample]).string(), kMaxImageFileBytes, memory);
  losses_.add(sample, memory);
  return memory;
}

std::vector<std::string> ImageFolder::describe_losses(const mpi::Communicator& world) const {
  return losses_.describe(
      info_.num_samples, [this](std::int64_t sample) { return name(sample); }, world);
}

std::int32_t ImageFolder::label(std::int64_t sample) const {
  return files().labels[static_cast<std::size_t>(sample)];
}

}  // namespace convoy
