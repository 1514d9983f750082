/// What a convolution needs beside cuDNN's engines: gradients in float32.
#pragma once

#include <cstdint>

#include "convoy/base/data_type.h"

#include "ops/cuda/resources.h"

namespace convoy::ops::cuda {

/// to = from, exactly. `from` is of `type` and aligned to 16 bytes, as is `to`; they do not overlap.
void widen(DataType type, const void* from, float* to, std::int64_t count, const Context& context);

}  // namespace convoy::ops::cuda
