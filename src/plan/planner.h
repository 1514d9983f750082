/// Which layout of the ranks makes the shortest step: all of them simulated.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "convoy/schedule/simulator.h"

#include "plan/step_parts.h"
#include "plan/step_plan.h"

namespace convoy {

/// What a step of the plan is expected to take: its busiest replica, simulated without buffering in the network.
Simulation predict_step(const StepPlan& plan);

/// Seconds a step of the first `num_steps` when samples are only evaluated, by what was measured of that machine: a
/// stage begins its next step while later stages are at the last one.
double predict_evaluation(const StepPlan& plan, const MachineCosts& machine, std::int64_t num_steps);

/// What an audit adds to the step that it checks: a micro-batch's way through all stages and back, and checksums of
/// what the largest stage keeps and computes, at the memory's rate.
double predict_audit_seconds(const StepPlan& plan);

struct Layout {
  GridShape grid;
  std::int64_t micro = 0;
  ScheduleKind schedule = ScheduleKind::k1F1B;
  RecomputeKind recompute = RecomputeKind::kNone;
};

struct Prediction {
  Layout layout;
  StepParts parts;
  double samples_per_second = 0;
  std::int64_t memory_bytes = 0;  ///< of a rank of the largest stage

  double step_seconds() const { return parts.total(); }
};

/// A number of ranks' layouts.
struct Comparison {
  std::int64_t ranks = 0;
  std::string kind;                             ///< of input
  std::vector<Prediction> predictions;          ///< the fastest first; among equals the smaller one
  std::map<std::string, std::int64_t> refused;  ///< how many, by the key that refuses them
  std::int64_t num_tried = 0;
  double alone_samples_per_second = 0;  ///< of one rank with its share of the batch, the fastest's way; 0: it cannot
};

struct ComparisonSpec {
  RuntimeSpec runtime;  ///< the rest of it; limit and cuts hold for all
  std::int64_t ranks = 1;
  std::int64_t stages = 0;                        ///< these alone; 0: all that divide the ranks
  std::map<std::int64_t, MachineCosts> machines;  ///< by micro-batch: those to try
  std::vector<ScheduleKind> schedules = all_schedules();
  std::int64_t chunks = 1;  ///< a stage, where interleaved
  std::vector<RecomputeKind> recomputes;
  StepConditions conditions = {};
};

/// The stages that are wanted, with each micro-batch, schedule and kind of recomputing. Where there is one stage
/// schedules are alike: only the first of them is tried.
Comparison compare_layouts(const ComparisonSpec& spec);

/// Samples per second of the fastest layout, as a share of what as many ranks would do that wait for nobody; 0 where
/// that is not known.
double efficiency(const Comparison& comparison);

/// The table of the best `max_rows`, and what was refused.
std::string describe(const Comparison& comparison, std::int64_t max_rows);

}  // namespace convoy
