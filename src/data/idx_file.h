/// The IDX format: a magic number, big-endian dimensions, then bytes; plain or gzipped.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace convoy {

struct IdxFile {
  std::vector<std::int64_t> dims;
  std::vector<std::uint8_t> values;  ///< row-major
};

/// Unsigned bytes in `rank` dimensions. Throws RequestError naming the file and what is wrong with it.
IdxFile read_idx_file(const std::string& path, int rank);

}  // namespace convoy
