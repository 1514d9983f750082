/// Prepares a run's directory when the run starts or is resumed, and prints what is trained.
#pragma once

#include <optional>
#include <string>

#include "convoy/io/training_state.h"

#include "calibrate/run_layout.h"
#include "run/live_record.h"
#include "run/run_data.h"
#include "run/run_record.h"
#include "step/rank_runtime.h"
#include "step/step_clock.h"

namespace convoy {

struct Parameters;

/// The arguments of open_run_directory().
struct RunOpening {
  const Parameters& params;
  const RunLayout& layout;
  const RunData& data;
  const RankRuntime& runtime;
  const io::TrainingState& state;  ///< the state from which training continues; step 0 for a new run
  StepCount steps;
  const LiveSpec& live;
  std::string hosts;           ///< "2 nodes, 4 ranks on each", and how ranks are placed
  std::string resumed_from;    ///< path of the checkpoint from which the run resumes; empty: none
  std::string changes;         ///< parameters that have changed since that checkpoint: result of changes_since()
  bool nothing_to_do = false;  ///< whether the run has already done all its steps
};

/// Called by rank 0, which holds the lock of the run's directory. Writes params.cfg and the files of engines and costs,
/// sets `record`, and prints what is trained and how. `clock` must outlive the record. Throws Error if a file cannot be
/// written.
void open_run_directory(const RunOpening& start, const StepClock& clock, std::optional<RunRecord>& record);

}  // namespace convoy
