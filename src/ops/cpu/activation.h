/// Activations for operations that have just computed a part of a tensor, which is still in the cache.
#pragma once

#include "convoy/ops/activation.h"

namespace convoy::ops::cpu {

/// Computes ActivationOp's forward, with the same bits, by at most `threads` threads.
void activate(const ActivationSpec& spec, const void* x, void* y, int threads);

}  // namespace convoy::ops::cpu
