/// Networks that are written as files in Lua: what a file declares, and the list of layers that it builds.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "convoy/base/input_shape.h"

#include "model/network_list.h"

namespace convoy {

/// The text of a network's file, and the name by which messages call it: "my.lua".
struct NetworkSource {
  std::string name, text;
};

/// The first statement of a file, network{...}: which networks it builds.
struct NetworkDeclaration {
  std::vector<std::string> names;  ///< names of networks that model.name can give; only of built-in files
  std::string form;                ///< form of names with parameters in them: "wrn{depth}-{width}"; or empty
  std::string about;               ///< paper, variant, kind of samples: for the help text
};

/// A parameter that a file declares.
struct NetworkParameter {
  std::string name, value, about;
  std::string allowed;  ///< type and range: "whole number, 1 to 1000"
};

/// What a network is built for.
struct NetworkRequest {
  std::string name;                             ///< model.name, which the file sees as `name`; or empty
  std::map<std::string, std::string> settings;  ///< values of the file's parameters: model.set
  InputShape input;
  std::int64_t num_classes = 0;
};

struct BuiltNetwork {
  NetworkList list;
  std::vector<NetworkParameter> parameters;
};

/// Runs a file up to its declaration. Throws RequestError, with file and line, if the file is not accepted.
NetworkDeclaration read_declaration(const NetworkSource& source);

/// Runs a file. Throws RequestError, with file and line, if the file is not accepted, or needs more memory or time than
/// it may (LuaSandbox), or does not know one of the settings (with the nearest that it knows).
BuiltNetwork run_network_file(const NetworkSource& source, const NetworkRequest& request);

/// Returns the parameters in a name of the form "wrn{depth}-{width}": "wrn28-10" gives depth = 28, width = 10. Empty if
/// the name has another form.
std::map<std::string, std::string> match_form(std::string_view form, std::string_view name);

}  // namespace convoy
