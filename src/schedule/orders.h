/// A schedule before its messages and buckets: in which order each stage passes micro-batches through its chunks.
#pragma once

#include <vector>

#include "convoy/schedule/schedule.h"

namespace convoy::schedule {

/// A chunk and a micro-batch of it.
struct Visit {
  std::int64_t chunk = 0;
  std::int64_t micro_batch = 0;
};

struct Pass {
  Op op = Op::kForward;  ///< or kBackward, kBackwardInput, kBackwardWeight
  Visit visit;
};

/// By stage.
using Orders = std::vector<std::vector<Pass>>;

/// What a pipeline's orders have in common. Forward passes keep one sequence, backward passes another (weights the
/// same), alike in all stages; what is left to decide is when which of them is next.
struct OrderRule {
  std::vector<Visit> forward, backward;
  std::vector<std::int64_t> max_ahead;  ///< by stage: forward passes that have no backward (by input) yet
  bool splits_backward = false;
  std::int64_t max_held = 0;  ///< where split: forward passes that have no weight gradient yet
};

/// Whenever it may, a stage goes forward, else backward: 1F1B's order. Where split, the weights of a backward follow
/// `lag[stage]` backwards later.
Orders orders_in_turns(const OrderRule& rule, const std::vector<std::int64_t>& lag);

/// Orders by simulated time (list_scheduler.cpp). What a free stage takes, first that can be taken:
///   1. forward, where it may go further ahead; where that would hold too many micro-batches, a weight gradient;
///   2. backward, or data gradient;
///   3. weight gradient;
/// else it waits for the next arrival. Times are whole ticks, so that all ranks decide alike.
///
/// Never stuck: the stage whose next backward comes first in the sequence (of those the one nearest the loss) has its
/// gradient, because the next virtual stage is past that backward.
Orders list_schedule(const PipelineSpec& spec, const OrderRule& rule);

/// The costs of the spec, or equal ones where it has none.
PipelineCosts costs_or_equal(const PipelineSpec& spec);

/// The lists of these orders.
Schedule build(const PipelineSpec& spec, const Orders& orders);

/// Of several orders the lists that simulate fastest, the first where two are as fast.
Schedule build_fastest(const PipelineSpec& spec, const std::vector<Orders>& candidates);

}  // namespace convoy::schedule
