/// The three matrix products of a fully connected layer by oneDNN.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include "ops/cpu/dnnl_call.h"
#include "ops/linear_products.h"

namespace convoy::ops::cpu {

/// Whether oneDNN has them in spec.type for this processor.
bool has_linear_products(const LinearSpec& spec, const dnnl::engine& engine);

DnnlCall linear_forward(const LinearSpec& spec, DnnlRuntime& runtime);          ///< {x, w, y, b}
DnnlCall linear_backward_input(const LinearSpec& spec, DnnlRuntime& runtime);   ///< {dy, w, dx}
DnnlCall linear_backward_weight(const LinearSpec& spec, DnnlRuntime& runtime);  ///< {dy, x, dw}

}  // namespace convoy::ops::cpu
