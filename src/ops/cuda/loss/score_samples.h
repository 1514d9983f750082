/// Adds up the parts of the losses of samples on the GPU: a thread for each sample.
#pragma once

#include <cstdint>

#include <cuda_runtime.h>

#include "ops/cuda/launch.h"
#include "ops/loss_part.h"

namespace convoy::ops::cuda {

/// Grid: over N. `parts` has parts_of_sample parts for each sample.
static __global__ void __launch_bounds__(kThreads)
    score_samples(std::int64_t n, std::int64_t parts_of_sample, const LossPart* parts, SampleScore* scores) {
  const std::int64_t i = my_index();
  if (i < n) scores[i] = score_of(parts + i * parts_of_sample, parts_of_sample);
}

}  // namespace convoy::ops::cuda
