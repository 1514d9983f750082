/// Times a training step of a benchmark, on data that costs nothing.
#pragma once

#include "convoy/base/clock.h"

#include "step/training_step.h"
#include "synthetic_source.h"

namespace convoy::bench {

/// Seconds from the time when all ranks of world are ready to the time when all have done the step.
inline double seconds_of_step(TrainingStep& training, BatchSource& source, const mpi::Communicator& world) {
  world.barrier();
  const double start = now_seconds();
  training.run(source, 0.01);
  training.runtime().finish();
  world.barrier();
  return now_seconds() - start;
}

}  // namespace convoy::bench
