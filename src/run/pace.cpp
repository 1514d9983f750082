/// Mean times of steps, measurements and checkpoints.
#include "run/pace.h"

namespace convoy {

OtherSeconds& OtherSeconds::operator+=(const OtherSeconds& more) {
  evaluation += more.evaluation;
  save += more.save;
  audit += more.audit;
  studies += more.studies;
  write += more.write;
  return *this;
}

void Pace::add_other(const OtherSeconds& more) {
  epoch_ += more;
  run_ += more;
}

void Pace::end_epoch() {
  ended_epochs_ += epoch_;
  epoch_ = {};
  ++num_ended_;
}

double Pace::seconds_left(double step_seconds, std::int64_t steps, std::int64_t epochs, std::int64_t steps_done) const {
  if (step_seconds <= 0) return -1;
  const double audit = steps_done == 0 ? 0 : run_.audit / static_cast<double>(steps_done);
  const double in_steps = (step_seconds + audit) * static_cast<double>(steps);
  if (num_ended_ > 0) {
    const double others_per_epoch = (ended_epochs_.evaluation + ended_epochs_.save) / static_cast<double>(num_ended_);
    return in_steps + others_per_epoch * static_cast<double>(epochs);
  }
  return steps_done == 0 ? in_steps
                         : in_steps + run_.save * static_cast<double>(steps) / static_cast<double>(steps_done);
}

}  // namespace convoy
