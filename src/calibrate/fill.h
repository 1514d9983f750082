/// Values to measure with: zeros are faster than a step's numbers on some devices, those that are not ordinary slower
/// on all.
#pragma once

#include <cstdint>

#include "convoy/ops/backend.h"

namespace convoy {

/// Writes `count` values of the size that a step has into `to`, on the device. Waits for it.
void fill(ops::Backend& backend, DataType type, void* to, std::int64_t count);

}  // namespace convoy
