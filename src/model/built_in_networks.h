/// The networks whose files are compiled into the program: those of input/networks.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/run_network_file.h"

namespace convoy {

/// Lua that runs before every network's file (network_prelude.lua).
const std::string& network_prelude();

struct BuiltInNetwork {
  NetworkSource source;
  NetworkDeclaration declaration;
};

/// All built-in files, in the order of the help text.
const std::vector<BuiltInNetwork>& built_in_networks();

/// Returns the network that a file declares with this name, and sets the parameters that the name contains. Throws
/// RequestError, with the nearest name, if no file does.
const BuiltInNetwork& find_built_in_network(const std::string& name, NetworkSettings& settings);
/// Returns a form as users read it: "wrnDEPTH-WIDTH" for "wrn{depth}-{width}".
std::string shown_form(const std::string& form);

}  // namespace convoy
