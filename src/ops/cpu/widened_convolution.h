/// Convolution in bf16 on a processor for which oneDNN has it in float32 alone.
#pragma once

#include <functional>
#include <memory>

#include "convoy/ops/convolution.h"

namespace convoy::ops::cpu {

class Widening;

/// Operands are widened and results rounded, a few samples at a time, so that what is in float32 is small and stays in
/// the cache. `make_float32` plans the convolution of such a slice.
std::unique_ptr<ConvolutionOp> make_widened_convolution(
    const ConvolutionSpec& spec, Widening& widening,
    const std::function<std::unique_ptr<ConvolutionOp>(const ConvolutionSpec&)>& make_float32);

}  // namespace convoy::ops::cpu
