/// Compares two runs, or two files of weights, and tells where they begin to differ.
#pragma once

#include <string>

namespace convoy {

struct Comparison {
  bool equal = false;  ///< everything that both have has the same bits
  std::string text;    ///< lines for people
};

/// Compares `a` and `b`; each is a run directory, or a checkpoint or safetensors file. For two runs: the first step
/// whose loss or fingerprint differs, and the tensors of each checkpoint of a step that both have. Otherwise the
/// tensors; a run is compared with a file by its newest checkpoint. Throws Error if a path is neither, or a file cannot
/// be read; RequestError if the two have nothing to compare. One rank.
Comparison compare(const std::string& a, const std::string& b);

}  // namespace convoy
