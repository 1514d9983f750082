/// The three passes of a convolution on the CPU: forward, data gradient and weight gradient. Each is computed in the
/// way that is fastest for its shape: by oneDNN's convolution or matrix product, or by own code, such as Winograd's
/// algorithm.
#pragma once

#include <memory>
#include <vector>

#include "convoy/ops/convolution.h"

#include "ops/cpu/resources.h"

namespace convoy::ops::cpu {

/// One direction of a convolution: forward, y of x, or the data gradient, dx of dy.
class ConvolutionDirection {
 public:
  virtual ~ConvolutionDirection() = default;

  /// Copies the weights w (K,R,S,C/G) to the layout that run() reads. The memory of w may be reused afterwards.
  virtual void load_weights(const void* w) = 0;
  /// Returns the direction's copies of w, for ConvolutionOp::packed_weights(). If both directions read one copy, only
  /// the direction that makes it returns it.
  virtual std::vector<Buffer*> packed_weights() = 0;
  /// Computes `to` (y or dx) of `from` (x or dy).
  virtual void run(const void* from, void* to) = 0;
};

/// The weight gradient of a convolution. run() overwrites dw (K,R,S,C/G).
class ConvolutionWeightGradient {
 public:
  virtual ~ConvolutionWeightGradient() = default;

  virtual void run(const void* x, const void* dy, float* dw) = 0;
};

// --- Other ways than oneDNN's convolution. Each function returns null if it does not suit the convolution or the
//     processor, or if oneDNN is faster.

/// The forward pass by Winograd's algorithm (winograd.h): float32, 3x3 filters.
std::unique_ptr<ConvolutionDirection> make_winograd_forward(const ConvolutionSpec& spec, Workspace& workspace);
/// The data gradient by Winograd's algorithm.
std::unique_ptr<ConvolutionDirection> make_winograd_backward_input(const ConvolutionSpec& spec, Workspace& workspace);
/// The weight gradient by Winograd's algorithm.
std::unique_ptr<ConvolutionWeightGradient> make_winograd_weight_gradient(const ConvolutionSpec& spec,
                                                                         Workspace& workspace);

/// The weight gradient of 3x3 filters and few channels in bf16, by the processor's products of bf16 (AVX-512). Null on
/// processors with AMX, where oneDNN is faster.
std::unique_ptr<ConvolutionWeightGradient> make_bf16_weight_gradient(const ConvolutionSpec& spec, Workspace& workspace);

/// The weight gradient as one matrix product of oneDNN, of dy and the windows of x (im2col): fast if windows are single
/// pixels, or if they are few or far apart.
std::unique_ptr<ConvolutionWeightGradient> make_window_weight_gradient(const ConvolutionSpec& spec,
                                                                       DnnlRuntime& runtime);

/// The data gradient of a pointwise convolution, as a forward convolution of dy.
std::unique_ptr<ConvolutionDirection> make_pointwise_backward_input(const ConvolutionSpec& spec, DnnlRuntime& runtime);
/// Returns whether this is a 1x1 convolution without padding and groups: each pixel of y depends on one pixel of x
/// only.
bool is_pointwise(const ConvolutionSpec& spec);

}  // namespace convoy::ops::cpu
