/// Runs the file of a network: what it declares, and the list of layers that it builds.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "convoy/model/network_file.h"

namespace convoy {

/// Runs a file up to its declaration. Throws RequestError, with file and line, if the file is not accepted.
NetworkDeclaration read_declaration(const NetworkSource& source);

/// Runs a file; request.file is not read. Throws RequestError, with file and line, if the file is not accepted, or
/// needs more memory or time than it may (LuaSandbox), or does not know one of the settings (with the nearest that it
/// knows).
BuiltNetwork run_network_file(const NetworkSource& source, const NetworkRequest& request);

/// Returns the parameters in a name of the form "wrn{depth}-{width}": "wrn28-10" gives depth = 28, width = 10. Empty if
/// the name has another form.
NetworkSettings match_form(std::string_view form, std::string_view name);

}  // namespace convoy
