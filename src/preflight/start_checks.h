/// What a training would start from: a checkpoint, given weights, or random ones; whether that can be read and fits.
#pragma once

#include <cstdint>
#include <string>

#include "convoy/ops/backend.h"
#include "convoy/params/parameters.h"

#include "preflight/report.h"
#include "preflight/run_plan.h"
#include "run/run_data.h"

namespace convoy::preflight {

struct Start {
  bool is_known = false;   ///< what follows holds
  std::string checkpoint;  ///< its path, where one is resumed
  std::int64_t step = 0;   ///< steps that are done
};

/// Reads the file whole, as train does, and compares it with the parameters, the data and the network. Rank 0 alone; it
/// does not wait.
Start check_start(const Parameters& params, const RunData& data, const RunPlan& plan, ops::Backend& backend,
                  Report& report);

}  // namespace convoy::preflight
