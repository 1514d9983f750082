/// The contract of 2-d convolution without bias, whole or in groups: forward, data gradient, weight gradient.
#pragma once

#include <cstdint>
#include <vector>

#include "convoy/base/data_type.h"
#include "convoy/base/shape.h"
#include "convoy/device/device.h"

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
  std::int64_t groups = 1;             ///< G, which divides C and K
  bool has_backward = true;            ///< false: forward alone is planned and callable, with the same bits

  /// C/G: what a filter sees of x.
  std::int64_t filter_channels() const { return x.c / groups; }
  /// (N,P,Q,K), P = (H + 2 padding - R) / stride + 1. May be smaller than 1 where the kernel does not fit.
  Shape y() const {
    return {x.n, (x.h + 2 * padding - kernel) / stride + 1, (x.w + 2 * padding - kernel) / stride + 1, num_filters};
  }
  std::int64_t weight_count() const { return num_filters * kernel * kernel * filter_channels(); }
  /// Floats of a copy of the weights in the layout that an operation likes best, at most: a CPU may keep those of 3x3
  /// filters transformed (ops/cpu/winograd.h).
  std::int64_t packed_weight_count() const;
  /// Multiply-adds of one forward pass, counted as two operations each.
  double forward_flop() const { return 2.0 * static_cast<double>(y().pixels()) * static_cast<double>(weight_count()); }
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

  /// Takes w (K,R,S,C/G) into the layout in which forward and backward_input want it. Call before these, and after
  /// every change of w, which stays where it is until the next call: an operation that likes this order reads it in
  /// place.
  virtual void load_weights(const void* w) = 0;
  /// Its copies of w in layouts of its own, which load_weights() makes, as far as forward reads them only; none where
  /// it reads w in place. Until the next load_weights() they may be exchanged for other memory with the same bytes,
  /// which need not be writable.
  virtual std::vector<Buffer*> packed_weights() { return {}; }
  virtual void forward(const void* x, void* y) = 0;
  virtual void backward_input(const void* dy, void* dx) = 0;
  virtual void backward_weight(const void* x, const void* dy, float* dw) = 0;
};

}  // namespace convoy::ops
