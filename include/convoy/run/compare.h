/// Where two runs, or two files of weights, begin to differ.
#pragma once

#include <string>

namespace convoy {

struct Comparison {
  bool equal = false;  ///< all that both have is the same to the bit
  std::string text;    ///< for people, lines
};

/// Each path is a run directory, or a checkpoint or safetensors file. Of two runs: the first step whose loss or
/// fingerprint differs, and the tensors of each checkpoint of a step that both have. Of files (a run beside a file: its
/// newest checkpoint): the tensors. Throws Error where a path is neither, or a file cannot be read; RequestError where
/// the two have nothing that could be compared. One rank.
Comparison compare(const std::string& a, const std::string& b);

}  // namespace convoy
