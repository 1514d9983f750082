/// The layout that a run trains with: the one that was requested, or what has the shortest predicted step on these
/// ranks.
#pragma once

#include <optional>
#include <string>

#include "convoy/comm/communicator.h"
#include "convoy/comm/process_grid.h"
#include "convoy/io/checkpoint.h"
#include "convoy/ops/backend.h"
#include "convoy/params/parameters.h"

#include "plan/step_plan.h"

namespace convoy {

struct RunLayout {
  std::int64_t stages = 1;
  ScheduleKind schedule = ScheduleKind::k1F1B;
  std::int64_t chunks = 1;              ///< a stage
  std::optional<MachineCosts> machine;  ///< measured, or found in run.directory; none on one rank
  std::string reason;                   ///< a line, where grid.stages is auto
};

/// Of the schedules that schedule.kind = auto chooses from, the one with the shortest predicted step on that grid, by
/// the machine's costs or a model of them; otherwise the one that is asked for.
void choose_schedule(const Parameters& params, const GridShape& grid, RuntimeSpec& runtime);

/// grid.stages (auto: one) on that many ranks. Throws RequestError where the network has fewer cells, on however many
/// ranks, and then as grid_shape() does.
GridShape requested_grid(const Parameters& params, std::int64_t ranks);

/// The same on all ranks of world, which all call it. Measures where there are several ranks. Throws RequestError
/// where no number of stages can train on these ranks.
RunLayout choose_layout(const Parameters& params, const io::ModelMetadata& metadata, const mpi::Communicator& world,
                        ops::Backend& backend);

/// The same by costs that are known, on one rank: what `ranks` ranks would train with.
RunLayout choose_layout(const Parameters& params, const io::ModelMetadata& metadata, std::int64_t ranks, bool on_gpu,
                        const MachineCosts& machine);

}  // namespace convoy
