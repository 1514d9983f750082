/// The kernel that a convolution needs in addition to cuDNN's engines: it widens gradients to float32.
#pragma once

#include <cstdint>

#include "convoy/base/data_type.h"

#include "ops/cuda/resources.h"

namespace convoy::ops::cuda {

/// Converts `count` values of `type` to float32, which is exact: to[i] = from[i]. Both arrays are in device memory,
/// aligned to 16 bytes, and do not overlap. Enqueued on the context's stream.
void widen(DataType type, const void* from, float* to, std::int64_t count, const Context& context);

}  // namespace convoy::ops::cuda
