/// Finds the splits of a source of arrays, by the names of its files and folders.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "data/arrays/picture_part.h"

namespace convoy {

struct ImportParams;

/// A split of the source: a file or a folder.
struct SplitPath {
  std::string name, path;
  std::optional<PictureSource> pictures = {};
};

/// Returns the splits of import.source, train first, by the names of its files and folders. A source without such names
/// is the split train. Throws RequestError if two files belong to one split. Rank 0.
std::vector<SplitPath> find_splits(const ImportParams& params);

}  // namespace convoy
