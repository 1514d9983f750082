/// The two families of He et al. 2015.
#pragma once

#include <optional>

#include "convoy/model/network.h"

namespace convoy {

/// Blocks a layer for photographs (table 1) and whether they are bottlenecks; nothing for depths that do not exist.
struct ResnetDepth {
  int depth = 0;
  std::int64_t blocks[4] = {};
  bool bottleneck = false;
};
const std::vector<ResnetDepth>& resnet_depths();
Network make_resnet(const ResnetDepth& depth, const NetworkSpec& spec);

/// Depths 6n + 2 for small images (section 4.2).
const std::vector<int>& resnet_cifar_depths();
Network make_resnet_cifar(int depth, const NetworkSpec& spec);

}  // namespace convoy
