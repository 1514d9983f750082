/// The contract of 2-d convolution without bias, whole or in groups: forward, data gradient, weight gradient.
#pragma once

#include <cstdint>

#include "convoy/base/data_type.h"
#include "convoy/base/shape.h"

namespace convoy::ops {

/// Square kernels, equal stride and zero padding on both axes: what residual networks use. In groups: the channels of x
/// and the filters are divided into equal runs, and a filter sees the channels of its own group alone (Xie et al. 2016,
/// "Aggregated residual transformations"); groups = C is a depthwise convolution.
struct ConvolutionSpec {
  Shape x;                       ///< (N,H,W,C)
  std::int64_t num_filters = 0;  ///< K
  std::int64_t kernel = 1;       ///< R = S
  std::int64_t stride = 1;
  std::int64_t padding = 0;
  bool needs_dx = true;  ///< false for the first layer of a network: backward_input is not planned and not callable
  DataType type = DataType::kFloat32;  ///< of x, w, y, dx, dy
  /// x = relu(bn(a)) without a residual: the backward may go on through both (ConvolutionOp::sums_gradients), the
  /// forward begin before them (ConvolutionOp::normalises).
  bool x_is_normalised = false;
  std::int64_t groups = 1;  ///< G, which divides C and K

  /// C/G: what a filter sees of x.
  std::int64_t filter_channels() const { return x.c / groups; }
  /// (N,P,Q,K), P = (H + 2 padding - R) / stride + 1. May be smaller than 1 where the kernel does not fit.
  Shape y() const {
    return {x.n, (x.h + 2 * padding - kernel) / stride + 1, (x.w + 2 * padding - kernel) / stride + 1, num_filters};
  }
  std::int64_t weight_count() const { return num_filters * kernel * kernel * filter_channels(); }
  /// Multiply-adds of one forward pass, counted as two operations each.
  double forward_flop() const { return 2.0 * static_cast<double>(y().pixels()) * static_cast<double>(weight_count()); }
};

/// Of each channel of y, over its N*P*Q values before their rounding to spec.type or after: float32 sums in an order of
/// the engine's own, the same at every call. For a batch norm after the convolution, which then need not read y again.
struct ChannelSums {
  float* sum = nullptr;         ///< (K)
  float* square_sum = nullptr;  ///< (K)
};

/// The batch norm that made x, as its forward left it.
struct NormalisedInput {
  const void* a = nullptr;       ///< (N,H,W,C), of spec.type: what was normalised
  const float* gamma = nullptr;  ///< (C), like all below
  const float* beta = nullptr;
  const float* mean = nullptr;
  const float* inv_std = nullptr;
};

/// What that batch norm's backward needs of a pass over dx and a; overwritten.
struct NormalisedInputGradients {
  void* g = nullptr;  ///< (N,H,W,C), of spec.type: dx where the ReLU let through
  float* dgamma = nullptr;
  float* dbeta = nullptr;
};

/// y  = conv(x, w)         x (N,H,W,C)   w (K,R,S,C/G)   y (N,P,Q,K)
/// dx = conv_input(dy, w)  overwritten
/// dw = conv_weight(x, dy) overwritten: the sum over the samples of this micro-batch; a GPU may round it to spec.type
/// dw is float32, all else of spec.type; accumulated in float32. The same bits for the same inputs, on any number of
/// threads. Every pointer is device memory, 64-byte aligned.
class ConvolutionOp {
 public:
  using Spec = ConvolutionSpec;
  static constexpr const char* kName = "convolution";

  virtual ~ConvolutionOp() = default;

  /// Takes w (K,R,S,C/G) into the layout in which forward and backward_input want it. Call after every change of w,
  /// which stays where it is until the next call: an operation that likes this order reads it in place.
  virtual void load_weights(const void* w) = 0;
  virtual void forward(const void* x, void* y) = 0;
  /// Whether this device has an engine that sums while it computes, and is the faster for it.
  virtual bool gives_sums() const { return false; }
  /// forward, and the sums; only where gives_sums().
  virtual void forward_with_sums(const void* /*x*/, void* /*y*/, const ChannelSums& /*sums*/) {}
  virtual void backward_input(const void* dy, void* dx) = 0;
  /// Whether this device has an engine that goes on to the sums of the batch norm that made x, and is the faster for
  /// it; never without spec.x_is_normalised.
  virtual bool sums_gradients() const { return false; }
  /// g = conv_input(dy, w) where bn(a) > 0;  dbeta = sum g;  dgamma = inv_std * sum g * (a - mean); only where
  /// sums_gradients(). The sums are float32's, of g before it is rounded or after.
  virtual void backward_input_with_sums(const void* /*dy*/, const NormalisedInput& /*in*/,
                                        const NormalisedInputGradients& /*out*/) {}
  virtual void backward_weight(const void* x, const void* dy, float* dw) = 0;
  /// Whether this device has engines that make x of a as they read it, and is the faster for it: then nobody need write
  /// x for a training step. Never without spec.x_is_normalised.
  virtual bool normalises() const { return false; }
  /// forward_with_sums and backward_weight of x = relu(scale * a + shift), rounded to spec.type; only where
  /// normalises().
  ///   scale = gamma * inv_std, rounded to spec.type    shift = beta - mean * scale, rounded likewise
  /// The shift's rounding is of the size of those with which a is stored.
  virtual void normalise_and_forward(const NormalisedInput& /*in*/, void* /*y*/, const ChannelSums& /*sums*/) {}
  virtual void normalise_and_backward_weight(const NormalisedInput& /*in*/, const void* /*dy*/, float* /*dw*/) {}
};

}  // namespace convoy::ops
