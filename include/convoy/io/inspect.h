/// What Convoy's files hold and whether they are undamaged, for a person who has only the files.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace convoy::io {

/// What describe_file() says of a file; of a data set, named by its prefix or its folder as data.train is, the same
/// lines of each of its splits; of a folder of checkpoints a line for each: its step and best value, or what is wrong
/// with it. Throws Error, too where shards do not belong together.
std::string describe(const std::string& path);

struct Verdict {
  std::string path;
  std::optional<std::string> damage;  ///< as verify_file() says it
};
/// Of a file, or of all shards of such a data set. Throws Error where nothing is there, or not all of it.
std::vector<Verdict> verify(const std::string& path);

/// Several lines on a shard of a data set (shape, samples, classes, mean and deviation, source) or a checkpoint (step,
/// samples, tensors, parameters, optimizer state, bytes), or a safetensors file. Throws Error where it is none of
/// these, or damaged.
std::string describe_file(const std::string& path);

/// Nothing where every byte is as it was written (a data set's images too: it reads the whole file), else the reason.
/// safetensors files carry no hash: their structure is verified, not their values.
std::optional<std::string> verify_file(const std::string& path);

/// "HDF5 1.10.8": the library that runs.
std::string hdf5_version();

}  // namespace convoy::io
