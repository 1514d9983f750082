/// Compares two runs, or two files of weights, and tells where they begin to differ.
#pragma once

#include <string>
#include <vector>

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

/// Returns a table with a row for each run: its result on the test set (test.csv), or else its best epoch. Then come
/// mean and standard deviation (over n - 1) of each column that all runs have. Parameters that differ are named above
/// it. A run that was not measured yet is left out with a warning. Throws RequestError if a path is not the directory
/// of a run, or if no run was measured. Only one rank calls it.
std::string summarise_runs(const std::vector<std::string>& runs);

}  // namespace convoy
