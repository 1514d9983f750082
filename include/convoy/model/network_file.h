/// Networks that are written as files in Lua, those that Convoy knows by name among them: from a file to the list of
/// its layers.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "convoy/base/input_shape.h"
#include "convoy/base/target.h"
#include "convoy/model/network_list.h"
#include "convoy/params/model_parameters.h"

namespace convoy {

inline constexpr std::int64_t kMaxNetworkFileBytes = 1 << 20;  ///< size of the largest file that is run

/// Values of a network's parameters by name, as text.
using NetworkSettings = std::map<std::string, std::string>;

/// The text of a network's file, and the name by which messages call it: "my.lua".
struct NetworkSource {
  std::string name, text;
};

/// The first statement of a file, network{...}: which networks it builds, and for which samples.
struct NetworkDeclaration {
  std::vector<std::string> names;  ///< names of networks that model.name can give; only of built-in files
  std::string form;                ///< form of names with parameters in them: "wrn{depth}-{width}"; or empty
  std::string reads;               ///< a kind of input (input_kinds in convoy/base/features.h); empty: any samples
  std::string about;               ///< paper, variant, kind of samples: for the help text
  std::int64_t image_size = 0;     ///< usual rows and columns of its images; 0: not declared
  std::vector<std::int64_t> values = {};  ///< usual extents of its only array, channels last; empty: not declared
  std::int64_t num_classes = 0;           ///< usual number of classes; 0: not declared
};

/// A parameter that a file declares.
struct NetworkParameter {
  std::string name, value, about;
  std::string initial;  ///< its value without model.set
  std::string allowed;  ///< type and range: "whole number, at least 1"
};

/// Which network is built, and for which data.
struct NetworkRequest {
  std::string name;                        ///< name of a built-in network; unused if there is a file
  std::optional<NetworkSource> file = {};  ///< the file of another network
  NetworkSettings settings = {};
  InputShape input = {};
  std::int64_t num_classes = 0;  ///< number of outputs: of classes, labels or numbers
  Target target = {};            ///< what the outputs mean
};

struct BuiltNetwork {
  NetworkList list;
  std::vector<NetworkParameter> parameters = {};
  NetworkSource source = {};  ///< the file that has built it
};

/// Returns what the network's file declares; request.input is not read. Throws RequestError as build_network_list().
NetworkDeclaration find_declaration(const NetworkRequest& request);

/// Runs the file of a network. Throws RequestError, with file and line, if the file is not accepted or needs more
/// memory or time than it may; for an unknown name and for settings that the file does not declare, with the nearest
/// that exist.
BuiltNetwork build_network_list(const NetworkRequest& request);

/// Returns those keys of the section model that are parameters of built-in networks, if they do not have their
/// defaults.
NetworkSettings network_settings(const TransformerParams& transformer, double stochastic_depth = 0);

/// Describes all functions of network files, as a part of a page in Markdown with its heading.
std::string describe_layer_functions();

/// Reads the value of model.set, "width=32, depth=20". Throws RequestError if it has another form.
NetworkSettings parse_network_settings(std::string_view text);

}  // namespace convoy
