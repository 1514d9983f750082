/// Makes networks, each a chain of cells, from their names.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "convoy/base/data_type.h"
#include "convoy/base/input_shape.h"
#include "convoy/base/target.h"
#include "convoy/model/cell.h"
#include "convoy/params/optimizer_parameters.h"

namespace convoy {

struct NetworkList;

/// The cells of a network in the order of forward. The first reads images (N,H,W,C) or tokens (N,T), the last outputs
/// logits (N,1,1,classes) or the scores of its objectives.
using Network = std::vector<std::unique_ptr<Cell>>;

struct NetworkSpec {
  std::string name;  ///< name of the network in messages: "resnet50"
  InputShape input;
  /// The layers of all cells (network_file.h); null: those of the built-in network `name`.
  std::shared_ptr<const NetworkList> list = {};
  std::map<std::string, std::string> settings = {};  ///< parameters of the built-in network; only without a list
  std::int64_t micro_batch = 0;                      ///< number of samples of a micro-batch, the N of all shapes
  std::int64_t num_classes = 0;                      ///< number of outputs: of classes, labels or numbers
  Target target = {};                                ///< what the outputs mean
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

/// Makes the network of a specification. Throws RequestError for an unknown name (with the nearest known), if the
/// network cannot read samples of this shape, and for patterns that match nothing or leave nothing to train.
Network make_network(const NetworkSpec& spec);

/// Throws RequestError, with the nearest name, if there is no built-in network with this name.
void check_network_name(const std::string& name);

/// A hash of all layers of a network, for keys of what depends on them. It does not depend on the size of
/// micro-batches, on types, or on what is frozen.
std::uint64_t hash_of(const NetworkSpec& spec);

/// Freezes the parameters whose names match one of these patterns, with the wildcards of a shell: '*' any text, '?' one
/// character, [abc] one of these characters. Throws RequestError if a pattern matches no name (with the nearest that
/// would), and if nothing is left to train.
void freeze_parameters(const std::vector<std::string>& patterns, Network& network);

/// Sets the factor of each parameter's learning rate to that of the first group whose pattern matches its name, else to
/// 1. Patterns have the wildcards of a shell: '*', '?', [abc]. Throws RequestError if a pattern matches no name of a
/// parameter that an optimizer updates.
void group_rates(const std::vector<RateGroup>& groups, Network& network);

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
