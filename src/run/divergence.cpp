/// The moving average of the loss, and the messages of runs that end by it.
#include "run/divergence.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "convoy/io/checkpoint.h"

namespace convoy {

namespace {

constexpr int kAverageSteps = 32;

}  // namespace

void LossRange::add(std::int64_t step, double loss) {
  const bool is_first = std::isinf(lowest_);
  // However large a single loss is, it keeps the average above the limit for about twenty steps only, not for ever.
  const double bound = kAverageSteps * limit();
  const double bounded = std::isfinite(loss) ? std::min(loss, bound) : bound;
  if (is_first) {
    average_ = loss;
  } else {
    average_ += (bounded - average_) / static_cast<double>(std::clamp<std::int64_t>(step, 1, kAverageSteps));
  }
  const bool is_within = loss <= limit() && average_ <= limit();  // false if the loss is not a number
  if (is_within) {
    left_step_ = 0;
    lowest_ = std::min(lowest_, average_);
  } else if (left_step_ == 0) {
    left_step_ = step;
  }
}

void LossRange::save_to(io::TrainingState& state) const {
  state.loss_average = average_;
  state.loss_lowest = lowest_;
  state.loss_left_step = left_step_;
}

std::string describe_way_back(const std::string& checkpoints, std::int64_t left_step) {
  const auto found = io::find_newest_checkpoint(
      checkpoints, [](const auto&, const auto&) {}, first_step_not_to_resume(left_step));
  if (!found) {
    const bool has_later = io::find_newest_checkpoint(checkpoints, [](const auto&, const auto&) {}).has_value();
    return fmt::format(
        "There is no checkpoint from before the training went wrong. To begin at step 0, {} a smaller optimizer.lr or "
        "a longer lr.warmup_epochs",
        has_later ? "choose another run.directory, with" : "use");
  }
  return fmt::format(
      "The last checkpoint from before the training went wrong is {} (step {}). Resume from it with a smaller "
      "optimizer.lr: --checkpoint.resume={}, and another run.directory",
      found->path, found->state.step, found->path);
}

std::string find_not_finite(const std::vector<io::NamedTensor>& weights) {
  const auto is_finite = [](float value) { return std::isfinite(value); };
  for (const io::NamedTensor& tensor : weights)
    if (!std::all_of(tensor.values.begin(), tensor.values.end(), is_finite)) return tensor.name;
  return "";
}

void refuse_to_save(const std::string& not_finite, std::int64_t step, const LossRange& range,
                    const std::string& checkpoints) {
  // If all losses were in range, the loss of the next step is the first outside.
  const std::int64_t left_step = range.left_step() > 0 ? range.left_step() : step + 1;
  throw DivergenceError(fmt::format("step {} is not saved: '{}' holds values that are not finite numbers. {}", step,
                                    not_finite, describe_way_back(checkpoints, left_step)));
}

}  // namespace convoy
