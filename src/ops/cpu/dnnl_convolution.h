/// The three convolutions as oneDNN describes them; the only place that differs between its versions 2 and 3.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include "convoy/ops/convolution.h"

namespace convoy::ops::cpu {

using ConvolutionForward = dnnl::convolution_forward;
using ConvolutionBackwardInput = dnnl::convolution_backward_data;
using ConvolutionBackwardWeight = dnnl::convolution_backward_weights;

/// Layouts of a convolution: activations NHWC, weights as oneDNN likes best.
struct ConvolutionLayouts {
  explicit ConvolutionLayouts(const ConvolutionSpec& spec);

  dnnl::memory::desc x, y, any_weights;
  dnnl::memory::desc plain_weights;                 ///< (K,R,S,C)
  dnnl::memory::desc any_gradient, plain_gradient;  ///< of the weights, float32
};

/// Whether it has all three in spec.type for this processor.
bool has_convolution(const ConvolutionSpec& spec, const dnnl::engine& engine);

/// oneDNN may choose among its direct algorithms (never Winograd, which rounds more).
ConvolutionForward::primitive_desc describe_forward(const ConvolutionSpec& spec, const dnnl::engine& engine);
ConvolutionBackwardInput::primitive_desc describe_backward_input(const ConvolutionSpec& spec,
                                                                 const dnnl::engine& engine,
                                                                 const ConvolutionForward::primitive_desc& forward);
ConvolutionBackwardWeight::primitive_desc describe_backward_weight(const ConvolutionSpec& spec,
                                                                   const dnnl::engine& engine,
                                                                   const ConvolutionForward::primitive_desc& forward);

}  // namespace convoy::ops::cpu
