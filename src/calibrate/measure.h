/// Measurements that all ranks make together, and whose results they agree on; and the values to measure with.
#pragma once

#include <cstdint>
#include <functional>

#include "convoy/base/data_type.h"
#include "convoy/base/node_load.h"
#include "convoy/base/repetitions.h"
#include "convoy/comm/communicator.h"
#include "convoy/ops/backend.h"

namespace convoy {

/// Replaces times that are too short for the clock.
inline constexpr double kMinSeconds = 1e-9;

/// Calls `work` a few times without and then several times with a clock, and returns the times of the latter.
Repetitions repeat(const std::function<void()>& work);

/// Calls `measure` on all ranks of world at the same time or, if they share cores, in turns (take_turns). Does so again
/// if the repetitions of any rank differ by more than `max_spread`. Returns which attempt was the best and its
/// repetitions on the slowest rank, the same on all ranks. All ranks of world call it.
Steadiest measure_together(const mpi::Communicator& world, const NodeLoad& node, bool in_pairs, double max_spread,
                           const std::function<Repetitions()>& measure);

/// Returns the longest time of all ranks of world, in seconds rounded to nanoseconds, on all of them.
double slowest(const mpi::Communicator& world, double seconds);

/// Writes `count` values of ordinary size into the device's memory at `to`, and waits until they are written. Zeros are
/// faster than a step's numbers on some devices, and subnormal numbers are slower on all.
void fill(ops::Backend& backend, DataType type, void* to, std::int64_t count);

}  // namespace convoy
