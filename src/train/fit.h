/// How the tensors of a file fit a network: by name and shape.
#pragma once

#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "convoy/io/checkpoint.h"
#include "convoy/model/network.h"

namespace convoy {

using TensorsByName = std::unordered_map<std::string, const io::NamedTensor*>;

/// They stay where they are.
TensorsByName by_name(const std::vector<io::NamedTensor>& tensors);

struct Fit {
  std::set<std::string> fitting;
  std::vector<std::string> missing;     ///< names that the network has alone, in its order
  std::vector<std::string> unexpected;  ///< names that the file has alone, in its order
  std::vector<std::string> misshapen;   ///< "fc.weight: 9x512, not 10x512", in the network's order

  bool is_exact() const { return missing.empty() && unexpected.empty() && misshapen.empty(); }
  /// Each kind with the first few of its names and how many there are.
  std::string differences() const;
};

Fit fit_weights(const Network& network, const std::vector<io::NamedTensor>& tensors);

}  // namespace convoy
