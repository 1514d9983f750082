/// What a path holds is seen by rank 0, for all.
#include "convoy/data/open_samples.h"

#include <filesystem>
#include <fstream>

#include "convoy/base/error.h"
#include "convoy/comm/on_root.h"
#include "convoy/io/dataset.h"
#include "convoy/io/shard_writer.h"

#include "data/image_folder.h"

namespace convoy {

namespace {

namespace fs = std::filesystem;

enum class Kind { kDataset, kImageFolder, kImageFile };

bool begins_like_hdf5(const std::string& path) {
  std::string first(8, '\0');
  std::ifstream(path, std::ios::binary).read(first.data(), std::ssize(first));
  return first == "\x89HDF\r\n\x1a\n";
}

Kind kind_of(const std::string& path) {
  std::error_code error;
  if (fs::is_regular_file(path, error))
    return path.ends_with(".h5") || begins_like_hdf5(path) ? Kind::kDataset : Kind::kImageFile;
  if (!fs::is_directory(path, error)) return Kind::kDataset;
  for (const char* const split : io::kSplitNames)
    if (!io::find_any_shard(path, split).empty()) return Kind::kDataset;
  return Kind::kImageFolder;
}

std::string folder_of(const SamplesPath& from, Kind kind) {
  return kind == Kind::kImageFile ? fs::path(from.path).parent_path().string() : from.path;
}

// Pixels cannot be turned any more, and what was trained on the files of a data set saw them as they were imported.
std::unique_ptr<io::Dataset> open_dataset(const SamplesPath& from) {
  auto dataset = std::make_unique<io::Dataset>(from.path, from.key, from.split, from.verify);
  if (from.needs_oriented && !dataset->info().oriented)
    refuse(
        "predict.orient = true, but {} = {} is a data set that was imported with import.orient = false. Import it "
        "again with import.orient = true, or give its folder of images",
        from.key, from.path);
  return dataset;
}

}  // namespace

bool is_image_file(const std::string& path) {
  return kind_of(path) == Kind::kImageFile;
}

std::unique_ptr<io::SampleStore> open_samples(const SamplesPath& from, const mpi::Communicator& world) {
  Kind kind = {};
  SourceListing listing;
  mpi::on_root(world, [&] {
    kind = kind_of(from.path);
    if (kind == Kind::kImageFolder) listing = list_any_images(from.path, from.key);
    if (kind == Kind::kImageFile) listing = list_one_image(from.path);
  });
  world.broadcast(&kind, sizeof kind, 0);
  if (kind == Kind::kDataset) return open_dataset(from);
  return std::make_unique<ImageFolder>(folder_of(from, kind), broadcast_listing(listing, world), from.channels,
                                       from.orients);
}

}  // namespace convoy
