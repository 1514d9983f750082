/// Batch normalisation with a max pooling has kernels of its own, since no kernel writes what the pooling reads.
#pragma once

#include <memory>

#include "convoy/ops/batch_norm.h"

#include "ops/cuda/resources.h"

namespace convoy::ops::cuda {

/// Creates the operation of a spec with a pooling.
std::unique_ptr<BatchNormOp> make_batch_norm_pooling(const BatchNormSpec& spec, Context& context);

}  // namespace convoy::ops::cuda
