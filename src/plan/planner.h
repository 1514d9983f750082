/// Finds the layout of the ranks with the shortest step by simulating all of them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "convoy/schedule/simulator.h"

#include "plan/step_parts.h"
#include "plan/step_plan.h"

namespace convoy {

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
struct Comparison {
  std::int64_t ranks = 0;
  std::string kind;                             ///< kind of the network's input
  std::vector<Prediction> predictions;          ///< the fastest first; of equally fast ones the smallest first
  std::map<std::string, std::int64_t> refused;  ///< number of layouts by the key that refuses them
  std::int64_t num_tried = 0;
  double alone_samples_per_second = 0;  ///< one rank with its share of the fastest's batch; 0: unknown
};

/// The layouts to compare.
struct ComparisonSpec {
  RuntimeSpec runtime;  ///< gives all else; its memory limit and its cuts hold for all layouts
  std::int64_t ranks = 1;
  std::int64_t stages = 0;                        ///< the only number to try; 0: all divisors of the ranks
  std::map<std::int64_t, MachineCosts> machines;  ///< the micro-batches to try, with their costs
  std::vector<ScheduleKind> schedules = all_schedules();
  std::int64_t chunks = 1;  ///< per stage, in the interleaved schedule
  std::vector<RecomputeKind> recomputes;
  StepConditions conditions = {};
};

/// Predicts the layouts of each number of stages with each micro-batch, schedule and kind of recomputing. On one stage
/// all schedules are the same, so only the first is tried.
Comparison compare_layouts(const ComparisonSpec& spec);

/// Returns the samples per second of the fastest layout as a share of those of as many ranks that do not wait for each
/// other; 0 if that is not known.
double efficiency(const Comparison& comparison);

/// Returns a table of the best `max_rows` layouts, and the number of refused ones by key.
std::string describe(const Comparison& comparison, std::int64_t max_rows);

}  // namespace convoy
