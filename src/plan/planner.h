/// Predicts steps and their parts: each part is the time by which the step would be shorter without its cause. Finds
/// the layout of the ranks with the shortest step by simulating all of them.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "convoy/schedule/simulator.h"

#include "plan/step_plan.h"

namespace convoy {

struct Parameters;

/// The parts of a step, in seconds. Their sum is the step's time.
struct StepParts {
  double arithmetic = 0;   ///< mean work of the stages, with loading of samples and updates
  double bubble = 0;       ///< time in which stages wait for others, if messages took no time
  double messages = 0;     ///< time that messages between stages, and agreements, add
  double exchange = 0;     ///< time that exchanges between replicas add beyond what the backward hides
  double stragglers = 0;   ///< time in which ranks wait for the slowest one: plan.spread_percent
  double loading = 0;      ///< time in which ranks wait for samples: plan.loader_samples_s
  double checkpoints = 0;  ///< time of copying what is saved, and of waiting for a disk that is slower than the steps

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
  double loader_samples_per_second = 0;   ///< samples that a rank's loader gives per second; 0: no step waits
  double disk_bytes_per_second = 0;       ///< speed of writing checkpoints; 0: no step waits for it
  std::int64_t steps_per_checkpoint = 0;  ///< steps from one checkpoint to the next; 0: none is saved
};

/// Returns the conditions that the parameters describe, for epochs of that many steps.
StepConditions step_conditions(const Parameters& params, std::int64_t steps_per_epoch);

/// Predicts the step of the plan's busiest replica in parts.
StepParts predict_parts(const StepPlan& plan, const StepConditions& conditions);

/// Returns a simulation of the plan's step on its busiest replica, without buffering in the network.
Simulation predict_step(const StepPlan& plan);

/// Returns the mean time of a step in an evaluation of `num_steps` steps on that machine, in seconds. A stage begins
/// its next step while later stages are still at the step before.
double predict_evaluation(const StepPlan& plan, const MachineCosts& machine, std::int64_t num_steps);

/// Returns the time that an audit adds to the step that it checks, in seconds: a micro-batch goes through all stages
/// and back, and checksums of the largest stage's parameters, gradients and optimizer state are computed at the
/// memory's rate.
double predict_audit_seconds(const StepPlan& plan);

/// A way to train on the ranks.
struct Layout {
  GridShape grid;
  std::int64_t micro = 0;
  ScheduleKind schedule = ScheduleKind::k1F1B;
  RecomputeKind recompute = RecomputeKind::kNone;
};

/// The predicted step of a layout.
struct Prediction {
  Layout layout;
  StepParts parts;
  double samples_per_second = 0;
  std::int64_t memory_bytes = 0;  ///< memory of a rank of the largest stage

  double step_seconds() const { return parts.total(); }
};

/// The layouts of a number of ranks, compared.
struct LayoutComparison {
  std::int64_t ranks = 0;
  std::string kind;                             ///< kind of the network's input
  std::vector<Prediction> predictions;          ///< the predicted layouts, the fastest first, then the smallest
  std::map<std::string, std::int64_t> refused;  ///< number of layouts by the key that refuses them
  std::int64_t num_tried = 0;
  double alone_samples_per_second = 0;  ///< speed of one rank with its share of the batch; 0: unknown
};

/// The layouts to compare.
struct LayoutComparisonSpec {
  RuntimeSpec runtime;  ///< all that the layouts have in common, with memory limit and cuts
  std::int64_t ranks = 1;
  std::int64_t stages = 0;                        ///< the only number of stages to try; 0: all divisors of the ranks
  std::map<std::int64_t, MachineCosts> machines;  ///< the micro-batches to try, with their costs
  std::vector<ScheduleKind> schedules = all_schedules();
  std::int64_t chunks = 1;  ///< number of runs of cells per stage in the interleaved schedule
  std::vector<RecomputeKind> recomputes;
  StepConditions conditions = {};
};

/// Predicts the layouts of each number of stages with each micro-batch, schedule and kind of recomputing. On one stage
/// all schedules are the same, so only the first is tried.
LayoutComparison compare_layouts(const LayoutComparisonSpec& spec);

/// Returns the samples per second of the fastest layout as a share of those of as many ranks that do not wait for each
/// other; 0 if that is not known.
double efficiency(const LayoutComparison& comparison);

/// Returns a table of the best `max_rows` layouts, and the number of refused ones by key.
std::string describe(const LayoutComparison& comparison, std::int64_t max_rows);

}  // namespace convoy
