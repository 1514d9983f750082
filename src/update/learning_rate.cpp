/// Learning-rate schedules as functions of only the step, so that a restart needs no state.
#include "update/learning_rate.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "convoy/params/parameters.h"

namespace convoy {

namespace {

// A step that falls on a milestone has reached it, however t = step / steps_per_epoch was rounded. Far less than a
// step.
constexpr double kOnTime = 1e-9;

// From `begin` at fraction 0 to `end` at fraction 1 along half a cosine.
double cosine_between(double begin, double end, double fraction) {
  return end + (begin - end) * (1.0 + std::cos(std::numbers::pi * std::clamp(fraction, 0.0, 1.0))) / 2.0;
}

// How much of the epochs after the warm-up is done, from 0 to 1.
double share_done(const LearningRateSpec& spec, double t) {
  return std::clamp((t - spec.params.warmup_epochs) / std::max(1e-9, spec.epochs - spec.params.warmup_epochs), 0.0,
                    1.0);
}

double onecycle(const LearningRateSpec& spec, double step) {
  constexpr double kStartDivisor = 25.0, kEndDivisor = 1e4, kRisingShare = 0.3;
  const double last_step = spec.epochs * static_cast<double>(spec.steps_per_epoch) - 1.0;
  const double rising = spec.params.warmup_epochs > 0
                            ? spec.params.warmup_epochs * static_cast<double>(spec.steps_per_epoch) - 1.0
                            : kRisingShare * (last_step + 1.0) - 1.0;
  const double start = spec.base / kStartDivisor;
  if (step <= rising) return rising > 0 ? cosine_between(start, spec.base, step / rising) : spec.base;
  return cosine_between(spec.base, start / kEndDivisor, (step - rising) / std::max(1.0, last_step - rising));
}

}  // namespace

LearningRateSpec learning_rate_spec(const Parameters& params, std::int64_t steps_per_epoch) {
  return {.params = params.lr,
          .base = params.optimizer.lr,
          .steps_per_epoch = steps_per_epoch,
          .epochs = params.train.epochs};
}

bool stretches_over_run(LearningRateKind schedule) {
  return schedule == LearningRateKind::kCosine || schedule == LearningRateKind::kPolynomial ||
         schedule == LearningRateKind::kOnecycle;
}

double learning_rate(const LearningRateSpec& spec, std::int64_t step) {
  const LearningRateParams& params = spec.params;
  const double t = static_cast<double>(step) / static_cast<double>(spec.steps_per_epoch);
  if (params.schedule == LearningRateKind::kOnecycle) return onecycle(spec, static_cast<double>(step));
  if (t < params.warmup_epochs)
    return spec.base * std::min(1.0, static_cast<double>(step + 1) /
                                         (params.warmup_epochs * static_cast<double>(spec.steps_per_epoch)));
  switch (params.schedule) {
    case LearningRateKind::kStep:
      return spec.base * std::pow(params.gamma, std::floor(t / params.step_epochs.front() + kOnTime));
    case LearningRateKind::kMultistep: {
      const auto passed = std::count_if(params.step_epochs.begin(), params.step_epochs.end(),
                                        [&](double milestone) { return t + kOnTime >= milestone; });
      return spec.base * std::pow(params.gamma, static_cast<double>(passed));
    }
    case LearningRateKind::kCosine:
      return cosine_between(spec.base, 0.0, share_done(spec, t));
    case LearningRateKind::kPolynomial:
      return spec.base * std::pow(1.0 - share_done(spec, t), params.power);
    case LearningRateKind::kInverseSqrt:
      return spec.base * std::sqrt(params.warmup_epochs * static_cast<double>(spec.steps_per_epoch) /
                                   static_cast<double>(step + 1));
    case LearningRateKind::kConstant:
    case LearningRateKind::kOnecycle:
      break;
  }
  return spec.base;
}

}  // namespace convoy
