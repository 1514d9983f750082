/// Describes and verifies Convoy's files for a person who has only the files.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace convoy::io {

/// Describes a file as describe_file() does. For a data set, named by its prefix or its folder as in data.train: the
/// same lines for each of its splits. For a folder of checkpoints: a line for each, with its step and best value, or
/// what is wrong with it. Throws Error, also if shards do not belong together.
std::string describe(const std::string& path);

struct Verdict {
  std::string path;
  std::optional<std::string> damage;  ///< the reason from verify_file(); nothing: undamaged
};
/// Verifies a file, or all shards of such a data set. Throws Error if nothing is found, or a shard is missing.
std::vector<Verdict> verify(const std::string& path);

/// Describes in several lines a shard of a data set (shape, samples, classes, mean and deviation, source), a checkpoint
/// (step, samples, tensors, parameters, optimizer state, bytes), a safetensors file or a file of predictions. Throws
/// Error if the file is damaged or of another kind.
std::string describe_file(const std::string& path);

/// Verifies a file by reading all of it, a data set's samples too. Returns the reason if it is damaged, else nothing.
/// safetensors files carry no hash: their structure is verified, not their values. For predictions, which have neither,
/// it returns that they cannot be checked.
std::optional<std::string> verify_file(const std::string& path);

/// The version of the HDF5 library that runs: "HDF5 1.10.8".
std::string hdf5_version();

}  // namespace convoy::io
