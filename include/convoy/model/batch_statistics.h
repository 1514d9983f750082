/// The layers of a network that take statistics of a micro-batch in training, and of how many values: the deviation of
/// one value is not defined.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convoy/model/network.h"

namespace convoy {

struct BatchStatistics {
  std::string layer;  ///< layer4.0.bn1
  Shape x;            ///< (N,H,W,C) that the layer normalises: N samples of a micro-batch
  std::int64_t num_values() const { return x.n * x.h * x.w; }  ///< per channel
};

/// Lists every layer that normalises by the statistics of a micro-batch when the network is trained, in order: the
/// layers with running statistics, in cells that are not frozen.
std::vector<BatchStatistics> trained_batch_statistics(const Network& network);

}  // namespace convoy
