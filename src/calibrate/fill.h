/// Values to measure with. Zeros are faster than a step's numbers on some devices, and subnormal numbers are slower on
/// all.
#pragma once

#include <cstdint>

#include "convoy/base/data_type.h"
#include "convoy/ops/backend.h"

namespace convoy {

/// Writes `count` values of ordinary size into the device's memory at `to`, and waits until they are written.
void fill(ops::Backend& backend, DataType type, void* to, std::int64_t count);

}  // namespace convoy
