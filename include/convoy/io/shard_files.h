/// Names and finds the files of a data set: NAME.h5 if a split has one shard, else NAME-000.h5, NAME-001.h5 ...
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace convoy::io {

/// The names that an import gives to the splits of a data set.
inline constexpr std::array<const char*, 3> kSplitNames = {"train", "val", "test"};

std::string shard_path(const std::string& directory, const std::string& name, std::int64_t index,
                       std::int64_t num_shards);
/// Returns the path of any shard of split `name` in the directory; empty if there is none.
std::string find_any_shard(const std::string& directory, const std::string& name);
/// Removes the shards of split `name` that an earlier import with another number of shards has left, and the temporary
/// files of an import that was killed. Throws Error if a file cannot be removed.
void remove_earlier_shards(const std::string& directory, const std::string& name, std::int64_t num_shards);

/// Whether a file ends as shards do. It may still be damaged. Throws Error if it cannot be read.
bool is_shard(const std::string& path);

/// Returns the paths of a split's shards, in their order: `path` itself if it is a file; for a prefix such as
/// data/fashion/train the shards train.h5 or train-000.h5, train-001.h5 ...; for a folder the shards of `split` in it.
/// Throws RequestError if there are none, a number is missing, or the shards of two imports are mixed. Its message
/// begins with `given`, which says where the path comes from ("data.train = ...").
std::vector<std::string> find_shards(const std::string& path, const std::string& given, const std::string& split);

}  // namespace convoy::io
