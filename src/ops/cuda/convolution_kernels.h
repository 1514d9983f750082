/// What a convolution needs beside cuDNN's engines: gradients in float32, and a batch norm's forward as a factor and a
/// summand per channel, for engines that normalise what they read.
#pragma once

#include <cstdint>

#include "convoy/base/data_type.h"
#include "convoy/ops/convolution.h"

#include "ops/cuda/resources.h"

namespace convoy::ops::cuda {

/// to = from, exactly. `from` is of `type` and aligned to 16 bytes, as is `to`; they do not overlap.
void widen(DataType type, const void* from, float* to, std::int64_t count, const Context& context);

struct ScaleAndShift {
  DataType type = DataType::kFloat32;
  std::int64_t num_channels = 0;
  void* scale = nullptr;  ///< (C), of type
  void* shift = nullptr;  ///< likewise
};

/// scale = gamma * inv_std    shift = beta - mean * scale
/// with scale as it is rounded to the type: then its rounding counts by a's distance from the mean, not from 0.
void compute_scale_and_shift(const NormalisedInput& in, const ScaleAndShift& out, const Context& context);

}  // namespace convoy::ops::cuda
