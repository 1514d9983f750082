/// Walks the folders, reads the files.
#include "data/folder_source.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <optional>

#include "convoy/base/error.h"
#include "convoy/base/log.h"
#include "convoy/io/shard_writer.h"

#include "data/folder_walk.h"
#include "io/atomic_file.h"

namespace convoy {

namespace {

namespace fs = std::filesystem;

constexpr const char* kKey = "import.source";
constexpr const char* kExpected = "Expected: [SPLIT/]CLASS/IMAGE";
constexpr const auto& kSplits = io::kSplitNames;
// What stands before a JPEG's dimensions (colour profiles, a small preview) is seldom longer.
constexpr std::uint64_t kHeaderBytes = std::uint64_t{64} << 10;

/// The split that is called so, in any case: Train, TESTING.
std::optional<std::size_t> split_called(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  for (std::size_t i = 0; i < kSplits.size(); ++i) {
    if (name.starts_with(kSplits[i])) return i;
  }
  return std::nullopt;
}

std::int32_t label_of(const std::string& name, const fs::path& folder, const SourceListing& listing) {
  const auto& names = listing.class_names;
  const auto found = std::lower_bound(names.begin(), names.end(), name);
  if (found == names.end() || *found != name) {
    refuse("import.source: '{}' is a class that train has not. Train has {}: {}{}", folder.string(), names.size(),
           fmt::join(names.begin(), names.begin() + std::min<std::ptrdiff_t>(5, std::ssize(names)), ", "),
           names.size() > 5 ? ", ..." : "");
  }
  return static_cast<std::int32_t>(found - names.begin());
}

// train/1.jpg, test/1.jpg: not all classes may be called as splits are.
void check_class_names(const fs::path& folder, const std::vector<fs::path>& classes) {
  std::vector<std::string> names;
  for (const fs::path& path : classes) names.push_back(path.filename().string());
  if (names.size() < 2 || !std::all_of(names.begin(), names.end(), split_called)) return;
  refuse(
      "import.source: the classes in '{}' would be {}: those are names of splits. {}. Give the images folders of "
      "their classes",
      folder.string(), fmt::join(names, ", "), kExpected);
}

// mini/train/ant/1.jpg, where mini was taken for a class.
void check_not_a_data_set(const fs::path& folder, const fs::path& root, const std::vector<std::string>& files) {
  const std::size_t own = folder.lexically_relative(root).string().size() + 1;
  const auto lies_in_split = [own](const std::string& file) {
    const std::size_t end = file.find('/', own);
    return end != std::string::npos && split_called(file.substr(own, end - own));
  };
  if (!std::all_of(files.begin(), files.end(), lies_in_split)) return;
  refuse("import.source = {}: '{}' would be a class, but its images lie in splits, as '{}' does. {}. Import '{}'",
         root.string(), folder.filename().string(), files.front(), kExpected, folder.string());
}

void check_number_of_classes(const fs::path& root, const SourceListing& listing) {
  if (listing.class_names.size() > 1) return;
  refuse(
      "import.source = {}: it would be one class, '{}', as '{}' lies, and there is nothing to learn of one. {}. Give "
      "the folder that holds the classes, or the splits",
      root.string(), listing.class_names.front(), listing.splits.front().names[0], kExpected);
}

void list_split(const fs::path& folder, const std::string& name, const fs::path& root, SourceListing& listing) {
  check_links_in(folder, kKey);
  const std::vector<fs::path> classes = folders_in(folder, kKey);
  check_class_names(folder, classes);
  if (listing.splits.empty()) {
    for (const fs::path& path : classes) listing.class_names.push_back(path.filename().string());
  }
  SourceSplit& split = listing.splits.emplace_back();
  split.name = name;
  for (const fs::path& path : classes) {
    const std::int32_t label = label_of(path.filename().string(), path, listing);
    const std::vector<std::string> files = files_below(path, root, kKey);
    if (files.empty()) refuse("import.source: class folder '{}' is empty. Fill it, or remove it", path.string());
    check_not_a_data_set(path, root, files);
    for (const std::string& file : files) split.add(file, label, 0);
  }
}

io::FileDescriptor open_image(const std::string& path) {
  try {
    return io::open_for_reading(path);
  } catch (const Error&) {
    std::error_code error;
    if (!fs::is_symlink(path, error) || fs::status(path, error).type() != fs::file_type::not_found) throw;
    fail("it is a link to '{}', which is not there", fs::read_symlink(path, error).string());
  }
}

}  // namespace

std::optional<std::size_t> split_of(const fs::path& folder, const std::string& key) {
  const auto split = split_called(folder.filename().string());
  return split && !folders_in(folder, key).empty() ? split : std::nullopt;
}

SourceListing list_image_folder(const std::string& root_name) {
  const fs::path root(root_name);
  check_links_in(root, kKey);
  const std::vector<fs::path> folders = folders_in(root, kKey);
  if (folders.empty()) {
    refuse("import.source = {}: it holds no folders. {}", root_name, kExpected);
  }
  std::array<fs::path, kSplits.size()> splits;
  std::vector<std::string> others;
  for (const fs::path& folder : folders) {
    const auto split = split_of(folder, kKey);
    if (!split) {
      others.push_back(folder.filename().string());
    } else if (fs::path& found = splits[*split]; !found.empty()) {
      refuse("import.source = {}: '{}' and '{}' are both split {}. Import them apart, or rename one", root_name,
             found.filename().string(), folder.filename().string(), kSplits[*split]);
    } else {
      found = folder;
    }
  }
  SourceListing listing;
  if (others.size() == folders.size()) {
    list_split(root, "train", root, listing);
    check_number_of_classes(root, listing);
    return listing;
  }
  if (splits[0].empty()) {
    refuse("import.source = {}: there is a split {} and no train, whose classes are needed", root_name,
           (splits[1].empty() ? splits[2] : splits[1]).filename().string());
  }
  if (!others.empty()) {
    log_warning(fmt::format("import.source = {}: beside the splits these are not imported: {}", root_name,
                            fmt::join(others, ", ")));
  }
  for (std::size_t i = 0; i < kSplits.size(); ++i) {
    if (!splits[i].empty()) list_split(splits[i], kSplits[i], root, listing);
  }
  check_number_of_classes(root, listing);
  return listing;
}

FolderSource::FolderSource(std::string root, SourceListing listing, bool orients)
    : ImageSource(std::move(listing)), root_(std::move(root)), decoder_(orients) {}

std::uint64_t read_image_file(const std::string& path, std::uint64_t most_bytes, std::vector<std::byte>& file) {
  const io::FileDescriptor opened = open_image(path);
  const std::uint64_t size = io::file_size(opened, path);
  if (size > kMostImageFileBytes) fail("it is too long: {} bytes; at most {} are taken", size, kMostImageFileBytes);
  file.resize(std::min(size, most_bytes));
  io::read_at(opened, 0, file, path);
  return size;
}

void FolderSource::fetch(const SourceSplit& split, std::int64_t sample, std::uint64_t most_bytes) {
  const std::string path = (fs::path(root_) / split.names[sample]).string();
  whole_ = read_image_file(path, most_bytes, file_) == file_.size();
}

std::int64_t FolderSource::file_bytes(const SourceSplit& split, std::int64_t sample) const {
  std::error_code unknown;
  const std::uintmax_t size = fs::file_size(fs::path(root_) / split.names[sample], unknown);
  return unknown ? 0 : static_cast<std::int64_t>(size);
}

ImageHeader FolderSource::look(const SourceSplit& split, std::int64_t sample) {
  fetch(split, sample, kHeaderBytes);
  try {
    return decoder_.read_header(file_);
  } catch (const Error&) {
    if (whole_) throw;
  }
  fetch(split, sample, kMostImageFileBytes);
  return decoder_.read_header(file_);
}

ImageView FolderSource::read(const SourceSplit& split, std::int64_t sample, const DecodeRequest& request) {
  fetch(split, sample, kMostImageFileBytes);
  return decoder_.decode(file_, request);
}

}  // namespace convoy
