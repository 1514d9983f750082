/// Samples from a path: a data set that an import made, or image files just as they lie.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "convoy/comm/communicator.h"
#include "convoy/io/sample_store.h"
#include "convoy/params/parameters.h"

namespace convoy {

struct SamplesPath {
  std::string path;
  std::string key;                         ///< that gave it, for messages: predict.data
  std::int64_t channels = 3;               ///< that image files are decoded to
  bool orients = false;                    ///< they are turned as their Exif orientation says
  bool needs_oriented = false;             ///< a data set must have been, or will be, turned so
  VerifyKind verify = VerifyKind::kEpoch;  ///< of a data set
  std::string split = "test";              ///< of a folder of shards
};

/// A folder without shards of an import is one of images, [SPLIT/][CLASS/]IMAGE: all files below it that do not begin
/// with a dot, in the order of their paths' bytes; rank 0 lists them, all know the list. Splits are folders named
/// train*, val* and test* that hold folders; an image that lies in no class has no label. Files are read when they are
/// asked for. A file that is no HDF5 is one image. Anything else is opened as io::Dataset, of a folder the shards of
/// `split`. Throws RequestError, on all ranks alike where the path is at fault, or where images are to be turned and a
/// data set was imported without import.orient. All ranks of the group.
std::unique_ptr<io::SampleStore> open_samples(const SamplesPath& path, const mpi::Communicator& world);

/// Whether open_samples() takes the path for one image file.
bool is_image_file(const std::string& path);

}  // namespace convoy
