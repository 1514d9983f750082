/// Finds what a training would start from (a checkpoint, given weights, or random weights), and checks that it can be
/// read and fits.
#pragma once

#include <cstdint>
#include <string>

#include "convoy/ops/backend.h"

#include "preflight/report.h"
#include "preflight/run_plan.h"
#include "run/run_data.h"

namespace convoy {
struct Parameters;
}

namespace convoy::preflight {

/// What a training would start from.
struct Start {
  bool is_known = false;   ///< whether the other members are valid
  std::string checkpoint;  ///< path of the checkpoint from which it resumes; empty: none
  std::int64_t step = 0;   ///< number of steps that are already done
};

/// Reads the whole file, as train does, and compares it with the parameters, the data and the network. Reports the
/// result. Only rank 0 calls it; it does not wait for other ranks.
Start check_start(const Parameters& params, const RunData& data, const RunPlan& plan, ops::Backend& backend,
                  Report& report);

}  // namespace convoy::preflight
