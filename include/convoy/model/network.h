/// Networks as chains of cells, by name.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "convoy/base/data_type.h"
#include "convoy/base/input_shape.h"
#include "convoy/model/cell.h"
#include "convoy/params/model_parameters.h"
#include "convoy/params/optimizer_parameters.h"

namespace convoy {

/// The cells of a network in order. The first reads images (N,H,W,C) or tokens (N,T), the last gives logits
/// (N,1,1,classes), or the scores of its objectives.
using Network = std::vector<std::unique_ptr<Cell>>;

struct NetworkSpec {
  std::string name;  ///< model.name: "resnet50"
  InputShape input;
  TransformerParams transformer = {};  ///< only for networks that read texts
  double stochastic_depth = 0;         ///< as in ModelParams
  std::int64_t micro_batch = 0;        ///< samples per call
  std::int64_t num_classes = 0;
  DataType type = DataType::kFloat32;       ///< of activations, and of the weights that they meet
  std::vector<std::string> freeze;          ///< patterns of the names of frozen parameters: "layer1.*"
  std::vector<RateGroup> rate_groups = {};  ///< as in OptimizerParams
  bool trains = true;                       ///< false: cells without backward, only for evaluation
  /// Makes the cells of a network without a name; null: `name` says which network is made.
  Network (*make_cells)(const NetworkSpec& spec) = nullptr;
};

/// The shape of the images, or texts, that the network reads. Throws RequestError if the data holds the other kind.
const ImageShape& image_of(const NetworkSpec& spec);
const TextShape& text_of(const NetworkSpec& spec);

/// Makes the network spec.name: resnet18, 34, 50, 101, 152 (He et al. 2015, table 1; v1.5 as in torchvision), resnet20,
/// 32, 44, 56, 110 for small images (section 4.2, parameter-free shortcuts), or one of the other families
/// (network_family_names()). Throws RequestError for an unknown name (with the nearest known), for images too small for
/// the strides, and for patterns that match nothing or leave nothing to train.
Network make_network(const NetworkSpec& spec);

/// Freezes the parameters whose names match one of these patterns, with the wildcards of a shell: '*' any text, '?' a
/// character, [abc] one of them. Throws RequestError if a pattern matches no name (with the nearest that would), and if
/// nothing is left to train.
void freeze_parameters(const std::vector<std::string>& patterns, Network& network);

/// Gives parameters the learning rates of their groups, whose patterns are as in freeze_parameters(). Throws
/// RequestError if a pattern matches no name of a parameter that an optimizer updates.
void group_rates(const std::vector<RateGroup>& groups, Network& network);

/// The number of cells of the network, for any data: the data may not be known yet. Throws RequestError for an unknown
/// name.
std::int64_t count_cells(const std::string& name, const TransformerParams& transformer);

/// The names of all networks whose names contain no numbers to choose.
std::vector<std::string> network_names();

/// A family of networks for the help: its names, or their form if they contain numbers to choose, and a description.
struct NetworkFamilyNames {
  std::vector<std::string> names;
  std::string about;
};
std::vector<NetworkFamilyNames> network_family_names();

/// The number of values of all parameters; running statistics do not count.
std::int64_t count_parameters(const Network& network);
/// The number of values of the frozen parameters; running statistics do not count.
std::int64_t count_frozen_parameters(const Network& network);

}  // namespace convoy
