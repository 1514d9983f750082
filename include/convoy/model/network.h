/// Networks as chains of cells, by name.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "convoy/base/input_shape.h"
#include "convoy/model/cell.h"

namespace convoy {

/// The cells in order; the first reads images (N,H,W,C) or tokens (N,T), the last gives logits (N,1,1,classes), or the
/// scores of its objectives.
using Network = std::vector<std::unique_ptr<Cell>>;

struct NetworkSpec {
  std::string name;  ///< resnet50
  InputShape input;
  TransformerParams transformer = {};  ///< of a network that is one
  double stochastic_depth = 0;         ///< as ModelParams has it
  std::int64_t micro_batch = 0;        ///< samples per call
  std::int64_t num_classes = 0;
  DataType type = DataType::kFloat32;       ///< of activations, and of the weights that they meet
  std::vector<std::string> freeze;          ///< patterns of names of frozen parameters: "layer1.*"
  std::vector<RateGroup> rate_groups = {};  ///< as OptimizerParams has them
  bool trains = true;                       ///< false: cells without backward, to be evaluated
  /// A network that has no name; null: the one that `name` tells.
  Network (*make_cells)(const NetworkSpec& spec) = nullptr;
};

/// Of a network that reads images, or texts. Throws RequestError where the data hold the other kind.
const ImageShape& image_of(const NetworkSpec& spec);
const TextShape& text_of(const NetworkSpec& spec);

/// resnet18, 34, 50, 101, 152 (He et al. 2015, table 1; v1.5 as torchvision has them) and resnet20, 32, 44, 56, 110 for
/// small images (section 4.2, parameter-free shortcuts); pyramidnetDEPTH-aALPHA (Han et al. 2017). Throws RequestError
/// for an unknown name (with the nearest known), for images too small for the strides, and for patterns that match
/// nothing or leave nothing to train.
Network make_network(const NetworkSpec& spec);

/// Freezes the parameters whose names match one of these patterns, as a shell has them: '*' any text, '?' a character,
/// [abc] one of them. Throws RequestError where a pattern matches no name (with the nearest that would), and where
/// nothing is left to train.
void freeze_parameters(const std::vector<std::string>& patterns, Network& network);

/// Gives parameters the learning rates of their groups; patterns as above. Throws RequestError where one matches no
/// name of a parameter that is updated by an optimizer.
void group_rates(const std::vector<RateGroup>& groups, Network& network);

/// How many cells the network has, whatever data it will read: that may not be known yet. Throws RequestError for an
/// unknown name.
std::int64_t count_cells(const std::string& name, const TransformerParams& transformer);

/// Those without numbers to choose.
std::vector<std::string> network_names();

/// For the help: each family's names, or their form where they have numbers to choose, and what it is.
struct NetworkFamilyNames {
  std::vector<std::string> names;
  std::string about;
};
std::vector<NetworkFamilyNames> network_family_names();

/// Trained values of the whole network (running statistics do not count).
std::int64_t count_parameters(const Network& network);
/// Of those, the values that do not change.
std::int64_t count_frozen_parameters(const Network& network);

}  // namespace convoy
