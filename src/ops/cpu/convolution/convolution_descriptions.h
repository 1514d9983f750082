/// The primitive descriptors of oneDNN for a convolution. Activations are NHWC; weights have the layout that oneDNN
/// chooses.
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
  dnnl::memory::desc plain_weights;                 ///< layout (K,R,S,C/G), as in the parameter arena
  dnnl::memory::desc any_gradient, plain_gradient;  ///< float32 gradients of the weights: oneDNN's layout, (K,R,S,C/G)
};

/// Returns the primitive descriptor for the number of OpenMP threads that the calling thread may use at present. Throws
/// dnnl::error if oneDNN has no such primitive.
DnnlForward::primitive_desc describe_forward(const ConvolutionSpec& spec, const dnnl::engine& engine);
DnnlBackwardInput::primitive_desc describe_backward_input(const ConvolutionSpec& spec, const dnnl::engine& engine,
                                                          const DnnlForward::primitive_desc& forward);
DnnlBackwardWeight::primitive_desc describe_backward_weight(const ConvolutionSpec& spec, const dnnl::engine& engine,
                                                            const DnnlForward::primitive_desc& forward);

}  // namespace convoy::ops::cpu
