/// Prepares a run's directory when the run starts or is resumed, and prints what is trained.
#pragma once

#include <optional>
#include <string>

#include "run/restart.h"
#include "run/run_record.h"
#include "run/training_setup.h"

namespace convoy {

/// The arguments of open_run_directory().
struct RunOpening {
  const TrainingSetup& setup;
  const RunData& data;
  const io::TrainingState& state;  ///< the state from which training continues; step 0 for a new run
  const LiveSpec& live;
  std::string hosts;  ///< "2 nodes, 4 ranks on each", and how ranks are placed
  const std::optional<Resumed>& resumed;
  bool nothing_to_do = false;  ///< whether the run has already done all its steps
};

/// Called by rank 0, which holds the lock of the run's directory. Writes params.cfg and the files of engines and costs,
/// sets `record`, and prints what is trained and how. `clock` must outlive the record. Throws Error if a file cannot be
/// written.
void open_run_directory(const RunOpening& start, const StepClock& clock, std::optional<RunRecord>& record);

}  // namespace convoy
