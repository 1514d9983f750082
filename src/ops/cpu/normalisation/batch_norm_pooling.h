/// Batch normalisation with a max pooling has passes of its own, since no pass writes what the pooling reads.
#pragma once

#include <memory>

#include "convoy/ops/batch_norm.h"

#include "ops/cpu/resources.h"

namespace convoy::ops::cpu {

/// Creates the operation of a spec with a pooling.
std::unique_ptr<BatchNormOp> make_batch_norm_pooling(const BatchNormSpec& spec, Workspace& workspace);

}  // namespace convoy::ops::cpu
