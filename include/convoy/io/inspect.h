/// Describes and verifies Convoy's files for a person who has only the files.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace convoy::io {

/// Describes a file as describe_file() does. If `path` is a data set (a prefix or a folder as in data.train), returns
/// these lines for each of its splits. If it is a folder of checkpoints, returns a line for each, with its step and
/// best value, or what is wrong with it. Throws Error, also if shards do not belong together.
std::string describe(const std::string& path);

/// The result of verifying one file.
struct Verdict {
  std::string path;
  std::optional<std::string> damage;  ///< the reason from verify_file(); nothing: undamaged
};
/// Verifies a file, or all shards of a data set that `path` names by its prefix or folder. Throws Error if no file is
/// found, or a shard is missing.
std::vector<Verdict> verify(const std::string& path);

/// Describes a file in several lines: a shard of a data set (shape, samples, classes, mean and deviation, source), a
/// checkpoint (step, samples, tensors, parameters, optimizer state, bytes), a safetensors file or a file of
/// predictions. Throws Error if the file is damaged or of another kind.
std::string describe_file(const std::string& path);

/// Verifies a file by reading all of it, including a data set's samples. Returns the reason if it is damaged, else
/// nothing. safetensors files carry no hash: only their structure is verified, not their values. For files of
/// predictions it returns that they cannot be checked.
std::optional<std::string> verify_file(const std::string& path);

/// The version of the HDF5 library that this process has loaded: "HDF5 1.10.8".
std::string hdf5_version();

}  // namespace convoy::io
