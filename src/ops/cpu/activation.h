/// Activations for operations that have a part of a tensor in the cache.
#pragma once

#include "convoy/ops/activation.h"

namespace convoy::ops::cpu {

/// ActivationOp's forward, with the same bits, by at most so many threads.
void activate(const ActivationSpec& spec, const void* x, void* y, int threads);

}  // namespace convoy::ops::cpu
