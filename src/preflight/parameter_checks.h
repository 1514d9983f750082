/// Finds the parameters that train would refuse before it opens any file.
#pragma once

#include "preflight/report.h"

namespace convoy {
struct Request;
}

namespace convoy::preflight {

/// The result of check_parameters(), the same on all ranks.
struct ParameterState {
  bool is_common = false;  ///< whether all ranks have the same parameters; if not, no other check is possible
  bool is_sound = false;   ///< whether the parameters have no problem
};

/// Checks the parameters, and reports each problem as a verdict. All ranks of the world call it.
ParameterState check_parameters(const Request& request, Report& report);

}  // namespace convoy::preflight
