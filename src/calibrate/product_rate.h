/// What a device reaches where it has nothing to wait for: the yardstick for the speed of layers.
#pragma once

#include "convoy/ops/backend.h"

namespace convoy {

/// Floating-point operations per second of a large matrix product of values of this type: the fastest of several.
/// Takes about half a second, and on a GPU up to 1 GiB of memory meanwhile. Throws Error where there is no room.
double measure_product_rate(ops::Backend& backend, DataType type);

}  // namespace convoy
