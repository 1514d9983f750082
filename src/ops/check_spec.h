/// What every device's library refuses before it plans: specs that no device can compute. Throws Error naming the spec.
#pragma once

#include "convoy/ops/library.h"

namespace convoy::ops {

void check(const ConvolutionSpec& spec);
void check(const BatchNormSpec& spec);
void check_max_pool(const PoolingSpec& spec);
void check_average_pool(const PoolingSpec& spec);
void check(const GlobalPoolingSpec& spec);
void check(const LinearSpec& spec);
void check(const SoftmaxCrossEntropySpec& spec);
void check(const ShortcutSpec& spec);
void check(const ImageBatchSpec& spec);

}  // namespace convoy::ops
