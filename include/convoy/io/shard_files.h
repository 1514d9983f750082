/// Which files a data set consists of: NAME.h5 where it has one shard, else NAME-000.h5, NAME-001.h5 ...
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace convoy::io {

/// What an import calls the parts of a data set.
inline constexpr std::array<const char*, 3> kSplitNames = {"train", "val", "test"};

std::string shard_path(const std::string& directory, const std::string& name, std::int64_t index,
                       std::int64_t num_shards);
/// Any shard of NAME in the directory; empty where there is none.
std::string find_any_shard(const std::string& directory, const std::string& name);
/// Removes what an import of NAME in another number of shards, or one that was killed, has left.
void remove_earlier_shards(const std::string& directory, const std::string& name, std::int64_t num_shards);

/// `path` itself where it is a file; of a prefix such as data/fashion/train the shards train.h5 or train-000.h5,
/// train-001.h5 ...; of a folder those of `split` in it. In their order. Throws RequestError that begins with `given`:
/// nothing is there, one of the numbers is missing, two imports lie beside each other.
std::vector<std::string> find_shards(const std::string& path, const std::string& given, const std::string& split);

}  // namespace convoy::io
