/// Lists the layers of a network that use statistics of a micro-batch in training, and the number of values of each
/// statistic. With one value, the standard deviation is not defined.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convoy/model/network.h"

namespace convoy {

struct BatchStatistics {
  std::string layer;  ///< name of the layer: "layer4.0.bn1"
  Shape x;            ///< (N,H,W,C), the tensor that the layer normalises; N is the micro-batch's size
  std::int64_t num_values() const { return x.pixels(); }  ///< number of values per channel in one statistic
};

/// Lists every layer that normalises by the statistics of a micro-batch when the network is trained, in order: the
/// layers with running statistics, in cells that are not frozen. Throws std::logic_error if a running variance belongs
/// to no layer.
std::vector<BatchStatistics> trained_batch_statistics(const Network& network);

}  // namespace convoy
