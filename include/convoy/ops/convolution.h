/// The contract of 2-d convolution without bias, with or without groups: forward, data gradient, weight gradient.
#pragma once

#include <cstdint>
#include <vector>

#include "convoy/base/data_type.h"
#include "convoy/base/shape.h"
#include "convoy/device/device.h"

namespace convoy::ops {

/// A convolution with a square kernel, and with equal stride and zero padding on both axes: what residual networks use.
/// With groups, the channels of x and the filters are divided into equal runs, and a filter sees only the channels of
/// its own group (Xie et al. 2016, "Aggregated residual transformations"). groups = C is a depthwise convolution. With
/// dilation, a window spreads over more pixels (Yu & Koltun 2015, "Multi-scale context aggregation by dilated
/// convolutions").
struct ConvolutionSpec {
  Shape x;                       ///< shape of the input, (N,H,W,C)
  std::int64_t num_filters = 0;  ///< number of filters, K
  std::int64_t kernel = 1;       ///< extent of the kernel on both axes, R = S
  std::int64_t stride = 1;
  std::int64_t padding = 0;
  /// Whether backward_input may be called. It is false for the first layer of a network, whose dx is not wanted.
  bool needs_dx = true;
  DataType type = DataType::kFloat32;  ///< storage type of x, w, y, dx and dy
  std::int64_t groups = 1;             ///< number of groups, G, which divides C and K
  bool has_backward = true;   ///< false: only load_weights and forward may be called; forward gives the same bits
  std::int64_t dilation = 1;  ///< distance between the pixels of x that neighbouring elements of the kernel meet

  /// The number of channels that a filter sees, C/G.
  std::int64_t filter_channels() const { return x.c / groups; }
  /// The extent of a window on both axes: with dilation, the kernel leaves out pixels in between.
  std::int64_t window() const { return (kernel - 1) * dilation + 1; }
  /// The shape of y, (N,P,Q,K), with P = (H + 2 padding - window) / stride + 1 and Q in the same way from W. P or Q is
  /// below 1 if the window does not fit into the padded image.
  Shape y() const {
    return Shape::images(x.n, (x.h + 2 * padding - window()) / stride + 1, (x.w + 2 * padding - window()) / stride + 1,
                         num_filters);
  }
  std::int64_t weight_count() const { return num_filters * kernel * kernel * filter_channels(); }
  /// The largest number of values in the operation's own copy of the weights, which may have another layout. A CPU may
  /// store 3x3 filters transformed (ops/cpu/convolution/winograd.h), which takes more values than weight_count().
  std::int64_t packed_weight_count() const;
  /// Floating-point operations of one forward pass: two per multiply-add.
  double forward_flop() const { return 2.0 * static_cast<double>(y().pixels()) * static_cast<double>(weight_count()); }
};

/// A 2-d convolution and its gradients:
/// y  = conv(x, w)         x (N,H,W,C)   w (K,R,S,C/G)   y (N,P,Q,K)
/// dx = conv_input(dy, w)  overwritten
/// dw = conv_weight(x, dy) overwritten: the sum over the samples of this micro-batch; a GPU may round it to spec.type
/// dw is float32, all else is of spec.type. Sums are float32. The same inputs give the same bits, on any number of
/// threads. Every pointer is device memory, 64-byte aligned.
class ConvolutionOp {
 public:
  using Spec = ConvolutionSpec;
  static constexpr const char* kName = "convolution";

  virtual ~ConvolutionOp() = default;

  /// Copies w (K,R,S,C/G) into the layout that forward and backward_input compute with. Call it before these two, and
  /// after every change of w. w must keep its address and its values until the next call, since some operations read it
  /// in place.
  virtual void load_weights(const void* w) = 0;
  /// The copies of w that load_weights() made, which the operation only reads. Empty if the operation reads w itself.
  /// Until the next load_weights(), the caller may replace a copy by other memory with the same bytes, even by
  /// read-only memory.
  virtual std::vector<Buffer*> packed_weights() { return {}; }
  virtual void forward(const void* x, void* y) = 0;
  virtual void backward_input(const void* dy, void* dx) = 0;
  virtual void backward_weight(const void* x, const void* dy, float* dw) = 0;
};

}  // namespace convoy::ops
