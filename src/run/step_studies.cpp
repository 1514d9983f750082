/// The trace and the profile measure the same steps.
#include "run/step_studies.h"

#include "convoy/params/run_parameters.h"

namespace convoy {

namespace {

template <typename Study>
void write(std::optional<Study>& study, const std::string& directory, std::vector<std::string>& texts) {
  std::string text = study->write(directory);
  study.reset();
  if (!text.empty()) texts.push_back(std::move(text));
}

}  // namespace

void StepStudies::plan(std::int64_t steps_left) {
  if (run_.trace > 0) trace_.emplace(training_, trace_window(run_.trace, steps_left));
  if (run_.profile > 0) profile_.emplace(training_, trace_window(run_.profile, steps_left));
}

void StepStudies::begin_step(std::int64_t step) {
  if (trace_) trace_->begin_step(step);
  if (profile_) profile_->begin_step(step);
}

void StepStudies::end_step(double seconds) {
  if (trace_) trace_->end_step();
  if (profile_) profile_->end_step(seconds);
}

std::vector<std::string> StepStudies::write_complete() {
  std::vector<std::string> texts;
  if (trace_ && trace_->is_complete()) write(trace_, run_.directory, texts);
  if (profile_ && profile_->is_complete()) write(profile_, run_.directory, texts);
  return texts;
}

std::vector<std::string> StepStudies::write_all() {
  std::vector<std::string> texts;
  if (trace_) write(trace_, run_.directory, texts);
  if (profile_) write(profile_, run_.directory, texts);
  return texts;
}

}  // namespace convoy
