/// The trace and the profile measure the same steps.
#include "run/step_studies.h"

#include "convoy/params/run_parameters.h"

#include "run/step_profile.h"

namespace convoy {

void StepStudies::plan(std::int64_t steps_left) {
  if (run_.trace > 0) studies_.push_back(std::make_unique<StepTrace>(training_, trace_window(run_.trace, steps_left)));
  if (run_.profile > 0)
    studies_.push_back(std::make_unique<StepProfile>(training_, trace_window(run_.profile, steps_left)));
}

void StepStudies::begin_step(std::int64_t step) {
  for (const auto& study : studies_) study->begin_step(step);
}

void StepStudies::end_step(const StepResult& result) {
  for (const auto& study : studies_) study->end_step(result);
  for (const auto& study : studies_)
    if (study->is_complete()) write(*study);
  std::erase_if(studies_, [](const auto& study) { return study->is_complete(); });
}

void StepStudies::finish() {
  for (const auto& study : studies_) write(*study);
  studies_.clear();
}

// The time for it does not count as training time.
void StepStudies::write(StepStudy& study) const {
  const double start = now_seconds();
  const std::string text = study.write(run_.directory);
  if (text.empty()) return;
  record_->say(text);
  record_->add_other({.studies = now_seconds() - start});
}

}  // namespace convoy
