/// Lists whatever lies in a folder; reads a file when its sample is asked for.
#include "data/image_folder.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "convoy/base/error.h"

#include "data/folder_source.h"
#include "data/folder_walk.h"

namespace convoy {

namespace {

namespace fs = std::filesystem;

constexpr std::int32_t kNoClass = -1;

// The folder that says the class of a file, in "[SPLIT/][CLASS/]...IMAGE"; empty where none does.
std::string class_of(const fs::path& name, const std::set<std::string>& splits) {
  auto part = name.begin();
  const auto is_last = [&] { return std::next(part) == name.end(); };
  if (!is_last() && splits.contains(part->string())) ++part;
  return is_last() ? "" : part->string();
}

}  // namespace

SourceListing list_any_images(const std::string& folder, const std::string& key) {
  std::set<std::string> splits;
  for (const fs::path& path : folders_in(folder, key))
    if (split_of(path, key)) splits.insert(path.filename().string());
  const std::vector<std::string> names = files_below(folder, folder, key);
  if (names.empty()) refuse("{} = {}: it holds neither files of images nor shards of a data set", key, folder);

  std::vector<std::string> classes;
  for (const std::string& name : names) classes.push_back(class_of(name, splits));
  SourceListing listing;
  const std::set<std::string> all(classes.begin(), classes.end());
  std::copy_if(all.begin(), all.end(), std::back_inserter(listing.class_names),
               [](const std::string& name) { return !name.empty(); });
  SourceSplit& split = listing.splits.emplace_back();
  const auto& known = listing.class_names;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto place = std::lower_bound(known.begin(), known.end(), classes[i]) - known.begin();
    split.add(names[i], classes[i].empty() ? kNoClass : static_cast<std::int32_t>(place), 0);
  }
  return listing;
}

SourceListing list_one_image(const std::string& path) {
  SourceListing listing;
  listing.splits.emplace_back().add(fs::path(path).filename().string(), kNoClass, 0);
  return listing;
}

ImageFolder::ImageFolder(std::string folder, SourceListing listing, std::int64_t channels, bool orients)
    : listing_(std::move(listing)) {
  info_.image = {0, 0, channels};
  info_.encoded = true;
  info_.oriented = orients;
  info_.num_samples = files().size();
  info_.class_names = listing_.class_names;
  info_.source = std::move(folder);
}

void ImageFolder::read_pixels(std::int64_t, std::span<std::byte>) const {
  fail("pixels were asked for, '{}' holds files", info_.source);
}

std::span<const std::byte> ImageFolder::read_file(std::int64_t sample, std::vector<std::byte>& memory) const {
  read_image_file((fs::path(info_.source) / files().names[sample]).string(), kMostImageFileBytes, memory);
  return memory;
}

std::int32_t ImageFolder::label(std::int64_t sample) const {
  return files().labels[static_cast<std::size_t>(sample)];
}

}  // namespace convoy
