/// The layout that a run trains with: what the person asked for, or what promises the shortest step on these ranks.
#pragma once

#include <optional>
#include <string>

#include "convoy/comm/communicator.h"
#include "convoy/io/checkpoint.h"
#include "convoy/ops/library.h"
#include "convoy/params/parameters.h"

#include "train/step_costs.h"

namespace convoy {

struct RunLayout {
  std::int64_t stages = 1;
  std::optional<MachineCosts> machine;  ///< measured, or found in run.directory; none on one rank
  std::string reason;                   ///< a line, where grid.stages is auto
};

/// The same on all ranks of world, which all call it. Measures where there are several ranks. Throws RequestError
/// where no number of stages can train on these ranks.
RunLayout choose_layout(const Parameters& params, const io::ModelCard& card, const mpi::Communicator& world,
                        ops::Library& library);

}  // namespace convoy
