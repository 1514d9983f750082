/// IDX files made for tests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace convoy::test {

/// Returns the magic number of unsigned bytes in N dimensions, then the N dimensions.
inline std::string idx_header(const std::vector<std::uint32_t>& dims) {
  std::vector<std::uint32_t> words = {0x00000800 + static_cast<std::uint32_t>(dims.size())};
  words.insert(words.end(), dims.begin(), dims.end());
  std::string bytes;
  for (const std::uint32_t word : words) {
    for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(word >> shift));
  }
  return bytes;
}

/// Returns the text compressed by gzip.
std::string gzipped(const std::string& plain);

}  // namespace convoy::test
