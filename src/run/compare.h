/// Compares two runs, or two files of weights, and tells where they begin to differ.
#pragma once

#include <string>

namespace convoy {

struct Comparison {
  bool equal = false;  ///< true: all values that exist in both are equal to the bit
  std::string text;    ///< result of the comparison in several lines, to be printed
};

/// Compares `a` and `b`; each is a run directory, a checkpoint or a safetensors file. For two runs, reports the first
/// step whose loss or fingerprint differs, and compares the tensors of the checkpoints of each step for which both have
/// one. Otherwise compares tensors; of a run it takes the newest checkpoint. Throws Error if a path is none of these,
/// or a file cannot be read; RequestError if the two have nothing to compare. Only one rank calls it.
Comparison compare(const std::string& a, const std::string& b);

}  // namespace convoy
