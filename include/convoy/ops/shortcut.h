/// The contract of parameter-free shortcuts: He et al. 2015, section 4.2 ("option A"); Han et al. 2017, figure 5.
#pragma once

#include <cstdint>

#include "convoy/base/data_type.h"
#include "convoy/base/shape.h"

namespace convoy::ops {

struct ShortcutSpec {
  Shape x;  ///< shape of the input, (N,H,W,C)
  std::int64_t stride = 2;
  std::int64_t num_channels = 0;  ///< number of channels of y, K >= C
  /// Number of zero channels before those of x, of K - C in all; the others follow x's channels.
  std::int64_t channels_before = 0;
  DataType type = DataType::kFloat32;

  Shape y() const { return Shape::images(x.n, (x.h + stride - 1) / stride, (x.w + stride - 1) / stride, num_channels); }
};

/// A shortcut without parameters: y is every stride-th pixel of x, with K - C additional channels of zeros.
class ShortcutOp {
 public:
  using Spec = ShortcutSpec;
  static constexpr const char* kName = "shortcut";

  virtual ~ShortcutOp() = default;

  virtual void forward(const void* x, void* y) = 0;
  /// Adds dy to dx (N,H,W,C) at those pixels and channels that forward copies to y. dx must already hold the gradient
  /// from the block's other branch.
  virtual void backward(const void* dy, void* dx) = 0;
};

}  // namespace convoy::ops
