/// The layout that a run trains with: the requested one, or the one with the shortest predicted step on these ranks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "convoy/comm/communicator.h"
#include "convoy/comm/process_grid.h"
#include "convoy/io/model_metadata.h"
#include "convoy/ops/backend.h"
#include "convoy/params/choices.h"

#include "plan/machine_costs.h"

namespace convoy {

struct Parameters;
struct RuntimeSpec;

/// The number of stages, the schedule and the chunks with which a run trains, and the costs by which they were chosen.
struct RunLayout {
  std::int64_t stages = 1;
  ScheduleKind schedule = ScheduleKind::k1F1B;
  std::int64_t chunks = 1;              ///< number of runs of cells per stage
  std::optional<MachineCosts> machine;  ///< measured costs; none on one rank and with plan.measure = false
  std::string reason;                   ///< a line that explains the choice; empty unless grid.stages = auto
};

/// If schedule.kind = auto and the grid has several stages, sets the schedule and the chunks of `runtime` to those with
/// the shortest predicted step. 1f1b is preferred unless another schedule is faster by more than 5 % and takes at most
/// 1.5 times its memory. Predictions use the costs in `runtime`, or modelled ones.
void choose_schedule(const Parameters& params, const GridShape& grid, RuntimeSpec& runtime);

/// Returns the grid with grid.stages stages (auto: 1) on that many ranks. Throws RequestError as grid_shape() does,
/// and for an unknown model.name. Whether the network has as many cells is known when the data are open.
GridShape requested_grid(const Parameters& params, std::int64_t ranks);

/// Chooses the layout of a training on the ranks of world. With several ranks it measures costs that run.directory does
/// not hold; with plan.measure = false it uses modelled costs. Throws RequestError if no layout can train on these
/// ranks. All ranks of world call it and get the same.
RunLayout choose_layout(const Parameters& params, const io::ModelMetadata& metadata, const mpi::Communicator& world,
                        ops::Backend& backend);

/// Chooses the layout with which `ranks` ranks would train, by the given costs. One rank alone can call it. Throws
/// RequestError if no layout can train on that many ranks.
RunLayout choose_layout(const Parameters& params, const io::ModelMetadata& metadata, std::int64_t ranks, bool on_gpu,
                        const MachineCosts& machine);

}  // namespace convoy
