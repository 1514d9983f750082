/// Networks as chains of cells, by name.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "convoy/model/cell.h"

namespace convoy {

struct NetworkSpec {
  std::string name;  ///< resnet50
  ImageShape image;
  std::int64_t micro_batch = 0;  ///< samples a call
  std::int64_t num_classes = 0;
  DataType type = DataType::kFloat32;  ///< of activations, and of the weights that they meet
  std::vector<std::string> freeze;     ///< patterns of names that stay as they are: "layer1.*"
};

/// The cells in order; the first reads images (N,H,W,C), the last gives logits (N,1,1,classes).
using Network = std::vector<std::unique_ptr<Cell>>;

/// resnet18, 34, 50, 101, 152 (He et al. 2015, table 1; v1.5 as torchvision has them) and resnet20, 32, 44, 56, 110 for
/// small images (section 4.2, parameter-free shortcuts); pyramidnetDEPTH-aALPHA (Han et al. 2017). Throws RequestError
/// for an unknown name (with the nearest known), for images too small for the strides, and for patterns that match
/// nothing or leave nothing to train.
Network make_network(const NetworkSpec& spec);

/// Those without numbers to choose.
std::vector<std::string> network_names();

/// Trained values of the whole network (running statistics do not count).
std::int64_t count_parameters(const Network& network);
/// Of those, the values that stay as they are.
std::int64_t count_frozen_parameters(const Network& network);

}  // namespace convoy
