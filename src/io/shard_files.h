/// Which files a person means who names a data set.
#pragma once

#include <string>
#include <vector>

namespace convoy::io {

/// `path` itself where it is a file; of a prefix such as data/fashion/train the shards train.h5 or train-000.h5,
/// train-001.h5 ...; of a folder those of `split` in it. In their order. Throws RequestError that begins with `given`:
/// nothing is there, one of the numbers is missing, two imports lie beside each other.
std::vector<std::string> find_shards(const std::string& path, const std::string& given, const std::string& split);

}  // namespace convoy::io
