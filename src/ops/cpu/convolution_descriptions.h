/// oneDNN's descriptions of a convolution: activations are NHWC, weights are in the layout that oneDNN chooses.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include "convoy/ops/convolution.h"

namespace convoy::ops::cpu {

using DnnlForward = dnnl::convolution_forward;
using DnnlBackwardInput = dnnl::convolution_backward_data;
using DnnlBackwardWeight = dnnl::convolution_backward_weights;

struct ConvolutionLayouts {
  explicit ConvolutionLayouts(const ConvolutionSpec& spec);

  dnnl::memory::desc x, y, any_weights;
  dnnl::memory::desc plain_weights;                 ///< (K,R,S,C/G)
  dnnl::memory::desc any_gradient, plain_gradient;  ///< gradients of the weights, float32
};

/// Describes the convolution for the number of threads that the calling thread may use.
DnnlForward::primitive_desc describe_forward(const ConvolutionSpec& spec, const dnnl::engine& engine);
DnnlBackwardInput::primitive_desc describe_backward_input(const ConvolutionSpec& spec, const dnnl::engine& engine,
                                                          const DnnlForward::primitive_desc& forward);
DnnlBackwardWeight::primitive_desc describe_backward_weight(const ConvolutionSpec& spec, const dnnl::engine& engine,
                                                            const DnnlForward::primitive_desc& forward);

}  // namespace convoy::ops::cpu
