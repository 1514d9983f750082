/// A schedule without messages and buckets: the order in which each stage passes micro-batches through its chunks.
#pragma once

#include <vector>

#include "convoy/schedule/schedule.h"

namespace convoy::schedule {

/// A chunk and a micro-batch that passes through it.
struct Visit {
  std::int64_t chunk = 0;
  std::int64_t micro_batch = 0;
};

/// A pass of a micro-batch through a chunk.
struct Pass {
  Op op = Op::kForward;  ///< kForward, kBackward, kBackwardInput or kBackwardWeight
  Visit visit;
};

/// The passes of each stage, in order.
using Orders = std::vector<std::vector<Pass>>;

/// The rule that a pipeline's orders follow. All stages make forward passes in the sequence `forward`, and backward
/// passes and weight gradients in the sequence `backward`. An order decides which of these sequences is next.
struct OrderRule {
  std::vector<Visit> forward, backward;
  std::vector<std::int64_t> max_ahead;  ///< by stage: most forward passes without their backward or data gradient
  bool splits_backward = false;
  std::int64_t max_held = 0;  ///< if split: most forward passes without their weight gradient
};

/// Returns the orders in which a stage goes forward whenever max_ahead allows it, else backward, as in 1F1B. If the
/// backward is split, the weight gradient follows `lag[stage]` data gradients later.
Orders orders_in_turns(const OrderRule& rule, const std::vector<std::int64_t>& lag);

/// Returns orders by simulated time (list_scheduler.cpp). A free stage takes the first of these that is possible:
///   1. forward, if it may go further ahead; if that would hold too many micro-batches, a weight gradient instead
///   2. backward, or data gradient
///   3. weight gradient
/// Else it waits for the next arrival. Times are whole ticks, so that all ranks decide alike.
///
/// The simulation never gets stuck. Consider the stage whose next backward comes first in the sequence (of several the
/// one nearest the loss): its gradient is available, because the next virtual stage is past that backward.
Orders list_schedule(const PipelineSpec& spec, const OrderRule& rule);

/// Returns the costs of the spec, or equal ones if it has none.
PipelineCosts costs_or_equal(const PipelineSpec& spec);

/// Returns the instruction lists of these orders.
Schedule build(const PipelineSpec& spec, const Orders& orders);

/// Returns the instruction lists of the orders with the shortest simulated step; of equally fast ones the first.
Schedule build_fastest(const PipelineSpec& spec, const std::vector<Orders>& candidates);

}  // namespace convoy::schedule
