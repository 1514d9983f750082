/// Implements run_calendar.h.
#include "run/run_calendar.h"

#include <algorithm>
#include <cmath>

#include "convoy/params/parameters.h"

namespace convoy {

bool RunCalendar::lost_patience(const io::TrainingState& state) const {
  const std::int64_t patience = params_.train.patience_epochs;
  return patience > 0 && state.best_step > 0 && state.evaluated_step == state.step && evaluation_is_due(state.step) &&
         state.step - state.improved_step >= patience * steps_.per_epoch;
}

bool RunCalendar::row_is_due(const io::TrainingState& state) const {
  const bool at_end = state.step % steps_.per_epoch == 0 || state.step >= steps_.total;
  return state.step > 0 && at_end && state.evaluated_step != state.step;
}

bool RunCalendar::evaluation_is_due(std::int64_t step) const {
  const std::int64_t every = params_.train.evaluate_every_epochs;
  return step >= steps_.total || (every > 0 && step % (every * steps_.per_epoch) == 0);
}

bool RunCalendar::checkpoint_is_due(std::int64_t step) const {
  const std::int64_t every = params_.checkpoint.every_steps;
  if (every > 0 && step % every == 0) return true;
  // The k-th checkpoint falls on step k * every_epochs * steps per epoch, rounded, so that it does not drift from the
  // epochs' ends.
  const double period = params_.checkpoint.every_epochs * static_cast<double>(steps_.per_epoch);
  if (period <= 0) return false;
  const double k = std::max(1.0, std::round(static_cast<double>(step) / period));
  return std::llround(k * period) == step || period < 1;
}

bool RunCalendar::fingerprint_is_due(std::int64_t step) const {
  const std::int64_t every = params_.run.fingerprint_every;
  return every > 0 && step % every == 0;
}

}  // namespace convoy
