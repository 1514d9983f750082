/// What a path holds is seen by rank 0, for all.
#include "convoy/data/open_samples.h"

#include <filesystem>

#include "convoy/comm/on_root.h"
#include "convoy/io/dataset.h"

#include "data/image_folder.h"

namespace convoy {

namespace {

namespace fs = std::filesystem;

bool is_image_folder(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return false;
  for (const fs::directory_entry& entry : fs::directory_iterator(path, error))
    if (entry.path().extension() == ".h5") return false;
  return true;
}

}  // namespace

std::unique_ptr<io::SampleStore> open_samples(const SamplesPath& from, const mpi::Communicator& world) {
  bool of_images = false;
  SourceListing listing;
  mpi::on_root(world, [&] {
    of_images = is_image_folder(from.path);
    if (of_images) listing = list_any_images(from.path, from.key);
  });
  world.broadcast(&of_images, sizeof of_images, 0);
  if (!of_images) return std::make_unique<io::Dataset>(from.path, from.key);
  return std::make_unique<ImageFolder>(from.path, broadcast_listing(listing, world), from.channels);
}

}  // namespace convoy
