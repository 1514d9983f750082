/// Where the time of a planned step goes: what it would be shorter without.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "convoy/params/parameters.h"

#include "plan/step_plan.h"

namespace convoy {

/// In seconds. Their sum is the step's time.
struct StepParts {
  double arithmetic = 0;  ///< of the mean stage; loading and updating count
  double bubble = 0;      ///< waiting for other stages, if messages took no time
  double messages = 0;    ///< what messages between stages, and agreements, add to that
  double exchange = 0;  ///< what gradients and parameters add that travel between replicas, beyond what backward hides
  double stragglers = 0;   ///< waiting for the slowest rank: plan.spread_percent
  double loading = 0;      ///< waiting for samples: plan.loader_samples_s
  double checkpoints = 0;  ///< copying what is saved and, where the disk is slower than the steps, waiting for it

  double total() const;
  /// The largest part but arithmetic, where it is more than a hundredth of the step; else "arithmetic".
  std::string limit() const;
};

/// With their names, in the order of StepParts.
struct NamedPart {
  const char* name;
  double StepParts::*seconds;
};
inline constexpr std::array<NamedPart, 7> kStepParts = {{{"arithmetic", &StepParts::arithmetic},
                                                         {"bubble", &StepParts::bubble},
                                                         {"messages", &StepParts::messages},
                                                         {"exchange", &StepParts::exchange},
                                                         {"stragglers", &StepParts::stragglers},
                                                         {"loading", &StepParts::loading},
                                                         {"checkpoints", &StepParts::checkpoints}}};

/// What a step waits for beside its ranks' arithmetic and messages.
struct StepConditions {
  double spread = 0;                      ///< standard deviation of the ranks' times, as a share of them
  double loader_samples_per_second = 0;   ///< of a rank; 0: never waited for
  double disk_bytes_per_second = 0;       ///< of checkpoints; 0: never waited for
  std::int64_t steps_per_checkpoint = 0;  ///< 0: none is saved
};

/// As the parameters have them, for epochs of so many steps.
StepConditions step_conditions(const Parameters& params, std::int64_t steps_an_epoch);

StepParts predict_parts(const StepPlan& plan, const StepConditions& conditions);

}  // namespace convoy
