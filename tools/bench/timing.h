/// How benchmarks time: medians of training steps on data that costs nothing.
#pragma once

#include <algorithm>
#include <vector>

#include "convoy/base/clock.h"

#include "synthetic_source.h"
#include "train/engine.h"

namespace convoy::bench {

inline double median(std::vector<double> values) {
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// From all ranks of world to all of them.
inline double seconds_of_step(Engine& engine, BatchSource& source, const mpi::Communicator& world) {
  world.barrier();
  const double start = now_seconds();
  engine.train_step(source, 0.01);
  engine.finish();
  world.barrier();
  return now_seconds() - start;
}

/// Median of a few steps, behind others that are not counted.
inline double seconds_a_step(Engine& engine, const mpi::Communicator& world, int warm_steps, int timed_steps) {
  SyntheticSource source(engine);
  std::vector<double> seconds;
  for (int step = 0; step < warm_steps + timed_steps; ++step) seconds.push_back(seconds_of_step(engine, source, world));
  return median({seconds.begin() + warm_steps, seconds.end()});
}

}  // namespace convoy::bench
