/// Activation functions, for operations that apply one to a part of a tensor right after computing it, while it is in
/// the cache.
#pragma once

#include "convoy/ops/activation.h"

namespace convoy::ops::cpu {

/// Computes y = f(x) with at most `threads` threads, and gives the same bits as ActivationOp::forward().
void activate(const ActivationSpec& spec, const void* x, void* y, int threads);

}  // namespace convoy::ops::cpu
