/// Orders by simulated time: a stage that is free takes the best of what has arrived.
#pragma once

#include "schedule/orders.h"

namespace convoy::schedule {

/// What a free stage takes, first that can be taken:
///   1. forward, where it may go further ahead; where that would hold too many micro-batches, a backward by weight;
///   2. backward, or backward by input;
///   3. backward by weight;
/// else it waits for the next arrival. Times are whole ticks, so that all ranks decide alike.
///
/// Never stuck: the stage whose next backward comes first in the sequence (of those the one nearest the loss) has its
/// gradient, because the virtual stage behind it is past that backward.
Orders list_schedule(const PipelineSpec& spec, const OrderRule& rule);

}  // namespace convoy::schedule
