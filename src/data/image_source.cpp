/// Lists, how they travel, and which kind of source a folder is.
#include "data/image_source.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <tuple>

#include "convoy/base/error.h"
#include "convoy/base/random.h"
#include "convoy/comm/on_root.h"

#include "data/cifar_files.h"
#include "data/folder_source.h"
#include "data/memory_source.h"

namespace convoy {

namespace {

namespace fs = std::filesystem;

// --- Lists as bytes --------------------------------------------------------------------------------------------------

class Packer {
 public:
  void number(std::int64_t value) {
    const auto raw = std::as_bytes(std::span(&value, 1));
    bytes_.insert(bytes_.end(), raw.begin(), raw.end());
  }
  void text(std::string_view value) {
    number(std::ssize(value));
    const auto raw = std::as_bytes(std::span(value));
    bytes_.insert(bytes_.end(), raw.begin(), raw.end());
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

class Unpacker {
 public:
  explicit Unpacker(std::span<const std::byte> bytes) : rest_(bytes) {}

  std::int64_t number() {
    std::int64_t value = 0;
    std::memcpy(&value, rest_.data(), sizeof(value));
    rest_ = rest_.subspan(sizeof(value));
    return value;
  }
  std::string_view text() {
    const auto size = static_cast<std::size_t>(number());
    const std::string_view value(reinterpret_cast<const char*>(rest_.data()), size);
    rest_ = rest_.subspan(size);
    return value;
  }

 private:
  std::span<const std::byte> rest_;
};

std::vector<std::byte> pack(const SourceListing& listing) {
  Packer packer;
  packer.number(std::ssize(listing.class_names));
  for (const std::string& name : listing.class_names) packer.text(name);
  packer.number(std::ssize(listing.splits));
  for (const SourceSplit& split : listing.splits) {
    packer.text(split.name);
    packer.number(split.size());
    for (std::int64_t i = 0; i < split.size(); ++i) {
      packer.text(split.names[i]);
      packer.number(split.labels[static_cast<std::size_t>(i)]);
    }
  }
  return packer.take();
}

SourceListing unpack(std::span<const std::byte> bytes) {
  Unpacker unpacker(bytes);
  SourceListing listing;
  for (std::int64_t n = unpacker.number(); n > 0; --n) listing.class_names.emplace_back(unpacker.text());
  for (std::int64_t n = unpacker.number(); n > 0; --n) {
    SourceSplit& split = listing.splits.emplace_back();
    split.name = unpacker.text();
    for (std::int64_t i = unpacker.number(); i > 0; --i) {
      const std::string_view name = unpacker.text();
      split.add(name, static_cast<std::int32_t>(unpacker.number()), 0);
    }
  }
  return listing;
}

// --- Which kind ------------------------------------------------------------------------------------------------------

bool has_any(const fs::path& folder, const std::vector<std::string>& names) {
  std::error_code error;
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return fs::is_regular_file(folder / name, error); });
}

ImportFormat find_format(const ImportParams& params) {
  std::error_code error;
  if (!fs::is_directory(params.source, error)) refuse("import.source = {}: there is no such folder", params.source);
  if (params.format != ImportFormat::kAuto) return params.format;
  if (has_any(params.source, {"train-images-idx3-ubyte", "train-images-idx3-ubyte.gz"})) return ImportFormat::kIdx;
  if (has_any(params.source, {"data_batch_1.bin", "train.bin"})) return ImportFormat::kCifar;
  return ImportFormat::kFolder;
}

}  // namespace

// --- NameList, SourceSplit -------------------------------------------------------------------------------------------

void NameList::add(std::string_view name) {
  begins_.push_back(std::ssize(text_));
  text_ += name;
}

std::string_view NameList::operator[](std::int64_t i) const {
  const auto at = static_cast<std::size_t>(i);
  const std::int64_t end = at + 1 < begins_.size() ? begins_[at + 1] : std::ssize(text_);
  return std::string_view(text_).substr(static_cast<std::size_t>(begins_[at]),
                                        static_cast<std::size_t>(end - begins_[at]));
}

void SourceSplit::add(std::string_view sample_name, std::int32_t label, std::int64_t place) {
  names.add(sample_name);
  labels.push_back(label);
  places.push_back(place);
}

// --- Opening ---------------------------------------------------------------------------------------------------------

SourceListing broadcast_listing(const SourceListing& listing, const mpi::Communicator& world) {
  return unpack(world.broadcast(world.rank() == 0 ? pack(listing) : std::vector<std::byte>(), 0));
}

std::unique_ptr<ImageSource> open_source(const ImportParams& params, const mpi::Communicator& world) {
  ImportFormat format = params.format;
  SourceListing listed;
  mpi::on_root(world, [&] {
    format = find_format(params);
    if (format == ImportFormat::kFolder) listed = list_image_folder(params.source);
  });
  world.broadcast(&format, sizeof(format), 0);
  switch (format) {
    case ImportFormat::kIdx:
      return open_idx(params.source);
    case ImportFormat::kCifar:
      return open_cifar(params.source);
    default:
      return std::make_unique<FolderSource>(params.source, broadcast_listing(listed, world), params.orient);
  }
}

// --- A validation split ----------------------------------------------------------------------------------------------

void cut_validation(SourceListing& listing, double fraction, std::uint64_t seed) {
  const SourceSplit& train = listing.splits.front();
  for (const SourceSplit& split : listing.splits) {
    if (split.name == "val")
      refuse("import.val_fraction = {}: the source has a split val already. Allowed: 0", fraction);
  }
  struct Drawn {
    std::uint64_t number = 0;
    std::int64_t sample = 0;
    bool operator<(const Drawn& other) const { return std::tie(number, sample) < std::tie(other.number, other.sample); }
  };
  std::vector<std::vector<Drawn>> classes(listing.class_names.size());
  for (std::int64_t i = 0; i < train.size(); ++i) {
    const RandomKey key{.seed = seed, .purpose = Purpose::kValidationSplit, .item = hash_name(train.names[i])};
    classes[static_cast<std::size_t>(train.labels[static_cast<std::size_t>(i)])].push_back(
        {random_block(key, 0)[0], i});
  }
  std::vector<bool> moves(static_cast<std::size_t>(train.size()));
  for (std::vector<Drawn>& drawn : classes) {
    if (drawn.size() < 2) continue;
    std::sort(drawn.begin(), drawn.end());
    const auto wanted = std::llround(fraction * static_cast<double>(drawn.size()));
    const auto count = std::clamp<std::int64_t>(wanted, 1, std::ssize(drawn) - 1);
    for (std::int64_t i = 0; i < count; ++i) {
      moves[static_cast<std::size_t>(drawn[static_cast<std::size_t>(i)].sample)] = true;
    }
  }
  SourceSplit kept{.name = "train", .names = {}, .labels = {}, .places = {}};
  SourceSplit moved{.name = "val", .names = {}, .labels = {}, .places = {}};
  for (std::int64_t i = 0; i < train.size(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    (moves[at] ? moved : kept).add(train.names[i], train.labels[at], train.places[at]);
  }
  if (moved.size() == 0) refuse("import.val_fraction = {}: no class of train has two images to part", fraction);
  listing.splits.front() = std::move(kept);
  listing.splits.insert(listing.splits.begin() + 1, std::move(moved));
}

}  // namespace convoy
