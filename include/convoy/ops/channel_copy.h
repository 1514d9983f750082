/// The contract of copies of channels between images of different depths: concatenations, slices, and the shortcuts
/// without parameters of residual networks (He et al. 2015, section 4.2, "option A"; Han et al. 2017, figure 5).
#pragma once

#include <cstdint>

#include "convoy/base/data_type.h"
#include "convoy/base/shape.h"

namespace convoy::ops {

struct ChannelCopySpec {
  Shape x;                        ///< shape of the input, (N,H,W,C)
  std::int64_t num_channels = 0;  ///< number of channels of y, K
  std::int64_t count = 0;         ///< number of channels that are copied
  std::int64_t x_first = 0;       ///< index of the first of them in x
  std::int64_t y_first = 0;       ///< index of the first of them in y
  std::int64_t stride = 1;        ///< y has every stride-th row and column of x
  bool keeps_rest = false;  ///< whether forward leaves y's other channels as they are, instead of setting them to 0
  DataType type = DataType::kFloat32;

  Shape y() const { return Shape::images(x.n, (x.h + stride - 1) / stride, (x.w + stride - 1) / stride, num_channels); }
};

/// Copies a run of channels:
/// y[n,p,q,y_first + i] = x[n, stride p, stride q, x_first + i]   for i = 0, ..., count - 1   y (N,P,Q,K)
class ChannelCopyOp {
 public:
  using Spec = ChannelCopySpec;
  static constexpr const char* kName = "copy of channels";

  virtual ~ChannelCopyOp() = default;

  virtual void forward(const void* x, void* y) = 0;
  /// Overwrites dx (N,H,W,C): dx = addend + the gradient, which is dy at the values that forward copies, else 0.
  /// `addend` (N,H,W,C) may be dx, or null for 0.
  virtual void backward(const void* dy, const void* addend, void* dx) = 0;
};

}  // namespace convoy::ops
