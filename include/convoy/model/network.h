/// Makes networks, each a chain of cells, from their names.
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

/// The cells of a network in the order of forward. The first reads images (N,H,W,C) or tokens (N,T), the last outputs
/// logits (N,1,1,classes) or the scores of its objectives.
using Network = std::vector<std::unique_ptr<Cell>>;

struct NetworkSpec {
  std::string name;  ///< name of the network (model.name): "resnet50"
  InputShape input;
  TransformerParams transformer = {};  ///< shape of a transformer; only for networks that read texts
  double stochastic_depth = 0;         ///< share of samples that skip the last block; it falls to 0 for the first block
  std::int64_t micro_batch = 0;        ///< number of samples of a micro-batch, the N of all shapes
  std::int64_t num_classes = 0;
  /// Storage type of activations, and of weights in matrix products and convolutions.
  DataType type = DataType::kFloat32;
  std::vector<std::string> freeze;          ///< patterns of the names of frozen parameters: "layer1.*"
  std::vector<RateGroup> rate_groups = {};  ///< groups of parameters with their own learning rates
  bool trains = true;                       ///< false: the cells have no backward and are only evaluated
  /// Makes the cells of a network that has no name, such as a test's; null: `name` says which network is made.
  Network (*make_cells)(const NetworkSpec& spec) = nullptr;
};

/// The shape of the images that the network reads. Throws RequestError if the data holds texts.
const ImageShape& image_of(const NetworkSpec& spec);
/// The shape of the texts that the network reads. Throws RequestError if the data holds images.
const TextShape& text_of(const NetworkSpec& spec);

/// Makes the network spec.name: resnet18, 34, 50, 101, 152 (He et al. 2015, table 1; v1.5 as in torchvision), resnet20,
/// 32, 44, 56, 110 for small images (section 4.2, parameter-free shortcuts), or one of the other families
/// (network_family_names()). Throws RequestError for an unknown name (with the nearest known), for images too small for
/// the strides, and for patterns that match nothing or leave nothing to train.
Network make_network(const NetworkSpec& spec);

/// Freezes the parameters whose names match one of these patterns, with the wildcards of a shell: '*' any text, '?' one
/// character, [abc] one of these characters. Throws RequestError if a pattern matches no name (with the nearest that
/// would), and if nothing is left to train.
void freeze_parameters(const std::vector<std::string>& patterns, Network& network);

/// Sets the factor of each parameter's learning rate to that of the first group whose pattern matches its name, else to
/// 1. Patterns have the wildcards of a shell: '*', '?', [abc]. Throws RequestError if a pattern matches no name of a
/// parameter that an optimizer updates.
void group_rates(const std::vector<RateGroup>& groups, Network& network);

/// The number of cells of a network. It does not depend on the data, which may not be known yet. Throws RequestError
/// for an unknown name.
std::int64_t count_cells(const std::string& name, const TransformerParams& transformer);

/// The names of all networks, except those of families whose names contain numbers that the user chooses, such as
/// "wrn28-10".
std::vector<std::string> network_names();

/// A family of networks, for the help text.
struct NetworkFamilyNames {
  /// Names of its networks, or the form of the names if they contain numbers to choose: "wrnDEPTH-WIDTH".
  std::vector<std::string> names;
  std::string about;  ///< description for the help text: paper, variant, kind of images
};
std::vector<NetworkFamilyNames> network_family_names();

/// The number of values of all parameters, without running statistics.
std::int64_t count_parameters(const Network& network);
/// The number of values of the frozen parameters, without running statistics.
std::int64_t count_frozen_parameters(const Network& network);

}  // namespace convoy
