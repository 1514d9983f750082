/// The speed of a device that waits for nothing: the yardstick for the speed of layers.
#pragma once

#include "convoy/base/data_type.h"
#include "convoy/ops/backend.h"

namespace convoy {

/// Returns the floating-point operations per second of the fastest of several large matrix products of values of this
/// type. Takes about half a second, and on a GPU up to 1 GiB of memory. Throws Error if the memory is not available.
double measure_product_rate(ops::Backend& backend, DataType type);

}  // namespace convoy
