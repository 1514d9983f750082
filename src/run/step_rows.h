/// Brings what a training step has given to rank 0: its losses, and the fingerprint of the weights.
#pragma once

#include <deque>
#include <optional>

#include "run/run_calendar.h"
#include "run/run_record.h"
#include "step/metrics.h"

namespace convoy {

/// Adds a row to the record for each step: one step later, when its losses have arrived.
class StepRows final : public StepObserver {
 public:
  /// All arguments must outlive this object. `record` is set on rank 0 from the first step on.
  StepRows(TrainingStep& training, const RunCalendar& calendar, std::optional<RunRecord>& record);

  void end_step(const StepResult& result) override;
  void finish() override;
  /// Adds the rows of all steps so far, and waits for their losses. Does nothing but on rank 0.
  void collect();

 private:
  void collect_oldest();

  TrainingStep& training_;
  const RunCalendar& calendar_;
  std::optional<RunRecord>& record_;
  MetricsChannel metrics_;
  std::deque<StepRow> posted_;  ///< on rank 0: the rows whose losses have not been collected
};

}  // namespace convoy
