/// A network as a list: what its file has built, before anything is known of ranks, micro-batches and storage types.
/// All ranks build the network from it, checkpoints store it, and two networks are the same if their lists are.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "convoy/model/parameter.h"

namespace convoy {

/// The value of an argument of a layer.
using Argument = std::variant<std::int64_t, double, bool, InitialValues, std::vector<std::string>>;

/// What LayerCall::function is if the call reads a feature of the samples instead of adding a layer.
inline constexpr const char* kFeatureCall = "feature";

/// One call of a layer function (layer_functions.h).
struct LayerCall {
  std::string function;              ///< name of the layer function: "conv"
  std::string name;                  ///< first part of its parameters' names: "conv1"; name of the feature; or empty
  std::vector<std::int64_t> inputs;  ///< the values that it reads, by their numbers in the cell
  std::map<std::string, Argument> arguments;  ///< by name; in a list only those that do not have their default values

  bool operator==(const LayerCall&) const = default;
};

/// The description of one cell. Its values are numbered: first its input, if it has one, then the results of its
/// layers, in their order.
struct CellList {
  std::string name;        ///< name of the cell: "layer1.0"
  std::string prefix;      ///< first part of the names of all its parameters: "layer1.0."
  bool has_input = false;  ///< whether it reads the output of the cell before it; only a first cell does not
  std::vector<LayerCall> layers;
  std::int64_t output = 0;  ///< number of the value that is the cell's output

  bool operator==(const CellList&) const = default;
};

/// The largest network that a file may build.
inline constexpr std::int64_t kMaxCells = 10'000, kMaxLayers = 20'000;

struct NetworkList {
  std::vector<CellList> cells;

  bool operator==(const NetworkList&) const = default;
};

/// Returns the function and the name of a call, for messages: "conv 'conv1'".
std::string describe(const LayerCall& call);

/// Returns whether a layer reads the feature with this name (convoy/base/features.h).
bool reads_feature(const NetworkList& list, std::string_view name);

/// Returns the list as text, a layer per line: JSON whose text is equal if and only if the lists are equal.
std::string to_text(const NetworkList& list);

/// Reads the text that to_text() writes. Throws Error if it is damaged: if it is no such JSON, or if a layer reads a
/// value that does not exist yet. Whether layers exist and accept their inputs is checked when cells are built.
NetworkList parse_network_list(std::string_view text);

/// Returns the first difference between two lists, for a message: "cell layer1.0, conv conv1: stride is 2, not 1".
/// Empty if they are equal.
std::string describe_difference(const NetworkList& now, const NetworkList& before);

}  // namespace convoy
