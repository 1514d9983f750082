/// What train would refuse of the parameters before it opens anything.
#pragma once

#include "convoy/params/parse.h"

#include "preflight/report.h"

namespace convoy::preflight {

/// The same on all ranks.
struct ParameterState {
  bool is_common = false;  ///< all ranks have the same; else they would not do the same, and no check can go on
  bool is_sound = false;   ///< there is no problem
};

/// A verdict for each problem. All ranks.
ParameterState check_parameters(const Request& request, Report& report);

}  // namespace convoy::preflight
