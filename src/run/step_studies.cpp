/// The trace and the profile measure the same steps.
#include "run/step_studies.h"

#include "convoy/params/run_parameters.h"

namespace convoy {

void StepStudies::plan(std::int64_t steps_left) {
  if (run_.trace > 0) trace_.emplace(training_, trace_window(run_.trace, steps_left));
  if (run_.profile > 0) profile_.emplace(training_, trace_window(run_.profile, steps_left));
}

void StepStudies::begin_step(std::int64_t step) {
  if (trace_) trace_->begin_step(step);
  if (profile_) profile_->begin_step(step);
}

void StepStudies::end_step(const StepResult& step) {
  if (trace_) trace_->end_step();
  if (profile_) profile_->end_step(step.seconds);
  if (trace_ && trace_->is_complete()) write(trace_);
  if (profile_ && profile_->is_complete()) write(profile_);
}

void StepStudies::finish() {
  if (trace_) write(trace_);
  if (profile_) write(profile_);
}

// The time for it does not count as training time.
template <typename Study>
void StepStudies::write(std::optional<Study>& study) {
  const double start = now_seconds();
  const std::string text = study->write(run_.directory);
  study.reset();
  if (text.empty()) return;
  record_->say(text);
  record_->add_other({.studies = now_seconds() - start});
}

}  // namespace convoy
