/// The orders of forward and backward passes in a pipeline schedule, from which its instruction lists are built. A
/// stage has one or several chunks (runs of cells); each micro-batch passes through each chunk.
#pragma once

#include <vector>

#include "convoy/schedule/schedule.h"

namespace convoy::schedule {

/// A chunk of a stage, and a micro-batch that passes through it.
struct Visit {
  std::int64_t chunk = 0;
  std::int64_t micro_batch = 0;
};

/// A forward pass, backward pass, data gradient or weight gradient of a micro-batch in a chunk.
struct Pass {
  Op op = Op::kForward;  ///< kForward, kBackward, kBackwardInput or kBackwardWeight
  Visit visit;
};

/// For each stage, its passes in the order in which it makes them.
using Orders = std::vector<std::vector<Pass>>;

/// The conditions that the orders of a pipeline must fulfil. All stages make their forward passes in the sequence
/// `forward`, and their backward passes (or data gradients) and weight gradients in the sequence `backward`. An order
/// decides from which of these sequences the next pass is taken.
struct OrderRule {
  std::vector<Visit> forward, backward;
  /// For each stage, the maximum number of forward passes that are done while their backward pass, or data gradient, is
  /// not.
  std::vector<std::int64_t> max_ahead;
  bool splits_backward = false;  ///< whether data gradients and weight gradients are separate passes
  /// Maximum number of forward passes that are done while their weight gradient is not. Used only if splits_backward.
  std::int64_t max_held = 0;
};

/// Returns the orders in which each stage makes a forward pass whenever max_ahead allows it, else a backward pass, as
/// in 1F1B. If the backward is split, the weight gradient of a micro-batch comes lag[stage] data gradients after its
/// own.
Orders orders_in_turns(const OrderRule& rule, const std::vector<std::int64_t>& lag);

/// Returns orders that are found by simulating the step (list_scheduler.cpp). A stage that is free makes the first of
/// these passes that is possible:
///   1. a forward pass, if max_ahead allows it; if that would exceed max_held, a weight gradient instead
///   2. a backward pass, or data gradient
///   3. a weight gradient
/// If none is possible, it waits for the next message. Simulated times are integers, so that all ranks decide alike.
///
/// The simulation never gets stuck. Consider the stage whose next backward pass comes first in the sequence (of
/// several, the one nearest the loss): its gradient is available, because the next virtual stage has done that backward
/// pass.
Orders list_schedule(const PipelineSpec& spec, const OrderRule& rule);

/// Returns spec.costs or, if they are empty, equal costs: forward, data gradient and weight gradient of each chunk take
/// 1 second each.
PipelineCosts costs_or_equal(const PipelineSpec& spec);

/// Returns the instruction lists in which each stage makes its passes in the given order, with all messages and
/// exchanges. Throws Error if the spec is not a valid pipeline.
Schedule build(const PipelineSpec& spec, const Orders& orders);

/// Builds the instruction lists of each candidate, simulates a step with each, and returns the lists of the shortest
/// step; of equal ones, the first.
Schedule build_fastest(const PipelineSpec& spec, const std::vector<Orders>& candidates);

}  // namespace convoy::schedule
