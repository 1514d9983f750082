/// Finds the parameters that train would refuse before it opens any file.
#pragma once

#include "preflight/report.h"

namespace convoy {
struct Request;
}

namespace convoy::preflight {

/// The result of check_parameters(), the same on all ranks.
struct ParameterState {
  bool is_common = false;  ///< whether all ranks have the same parameters; else no other check is possible
  bool is_sound = false;   ///< whether no problem was found
};

/// Reports a verdict for each problem. All ranks call it.
ParameterState check_parameters(const Request& request, Report& report);

}  // namespace convoy::preflight
