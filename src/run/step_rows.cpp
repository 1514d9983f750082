/// Posts a step's losses and collects those of the step before, so that rank 0 does not wait.
#include "run/step_rows.h"

#include "convoy/comm/tags.h"

#include "checkpoint/model_fingerprint.h"

namespace convoy {

StepRows::StepRows(TrainingStep& training, const RunCalendar& calendar, std::optional<RunRecord>& record)
    : training_(training), calendar_(calendar), record_(record), metrics_(training.runtime(), tags::kTrainingLosses) {}

void StepRows::end_step(const StepResult& result) {
  metrics_.post(training_.loss());
  std::optional<std::uint64_t> fingerprint;
  if (calendar_.fingerprint_is_due(result.step)) fingerprint = model_fingerprint(training_.runtime());
  if (!training_.runtime().grid().is_root()) return;
  posted_.push_back({.step = result.step,
                     .metrics = {},
                     .lr = result.lr,
                     .fingerprint = fingerprint,
                     .outcome = result.outcome,
                     .seconds = result.seconds});
  if (posted_.size() > 1) collect_oldest();
  if (result.outcome != StepOutcome::kApplied) collect();
}

void StepRows::collect() {
  while (!posted_.empty()) collect_oldest();
}

void StepRows::collect_oldest() {
  StepRow& row = posted_.front();
  row.metrics = metrics_.collect();
  record_->add_step(row);
  posted_.pop_front();
}

void StepRows::finish() {
  collect();
  metrics_.finish();
}

}  // namespace convoy
