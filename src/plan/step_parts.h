/// The parts of a planned step's time: each is the time by which the step would be shorter without its cause.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "plan/step_plan.h"

namespace convoy {

struct Parameters;

/// The parts of a step, in seconds. Their sum is the step's time.
struct StepParts {
  double arithmetic = 0;   ///< mean over the stages, with loading of samples and updates
  double bubble = 0;       ///< waiting for other stages if messages took no time
  double messages = 0;     ///< time that messages between stages, and agreements, add
  double exchange = 0;     ///< time that exchanges between replicas add beyond what the backward hides
  double stragglers = 0;   ///< waiting for the slowest rank: plan.spread_percent
  double loading = 0;      ///< waiting for samples: plan.loader_samples_s
  double checkpoints = 0;  ///< copying of what is saved and, if the disk is slower than the steps, waiting for it

  /// Returns the step's time: the sum of the parts.
  double total() const;
  /// Returns the name of the largest part other than arithmetic if it is more than a hundredth of the step; else
  /// "arithmetic".
  std::string limit() const;
};

/// A member of StepParts with its name.
struct NamedPart {
  const char* name;
  double StepParts::*seconds;
};
/// All members of StepParts, in their order.
inline constexpr std::array<NamedPart, 7> kStepParts = {{{"arithmetic", &StepParts::arithmetic},
                                                         {"bubble", &StepParts::bubble},
                                                         {"messages", &StepParts::messages},
                                                         {"exchange", &StepParts::exchange},
                                                         {"stragglers", &StepParts::stragglers},
                                                         {"loading", &StepParts::loading},
                                                         {"checkpoints", &StepParts::checkpoints}}};

/// What a step waits for in addition to its ranks' arithmetic and messages.
struct StepConditions {
  double spread = 0;                      ///< standard deviation of the ranks' times, as a share of them
  double loader_samples_per_second = 0;   ///< per rank; 0: never waited for
  double disk_bytes_per_second = 0;       ///< speed of writing checkpoints; 0: never waited for
  std::int64_t steps_per_checkpoint = 0;  ///< 0: none is saved
};

/// Returns the conditions that the parameters describe, for epochs of that many steps.
StepConditions step_conditions(const Parameters& params, std::int64_t steps_per_epoch);

/// Predicts the step of the plan's busiest replica in parts.
StepParts predict_parts(const StepPlan& plan, const StepConditions& conditions);

}  // namespace convoy
