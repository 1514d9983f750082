/// The contract of parameter-free shortcuts: He et al. 2015, section 4.2 ("option A"); Han et al. 2017, figure 5.
#pragma once

#include <cstdint>

#include "convoy/base/data_type.h"
#include "convoy/base/shape.h"

namespace convoy::ops {

struct ShortcutSpec {
  Shape x;  ///< (N,H,W,C)
  std::int64_t stride = 2;
  std::int64_t num_channels = 0;     ///< K >= C
  std::int64_t channels_before = 0;  ///< of the K - C zero channels so many stand before x's, the rest after
  DataType type = DataType::kFloat32;

  Shape y() const { return {x.n, (x.h + stride - 1) / stride, (x.w + stride - 1) / stride, num_channels}; }
};

/// y = every stride-th pixel of x, new channels zero.
class ShortcutOp {
 public:
  using Spec = ShortcutSpec;
  static constexpr const char* kName = "shortcut";

  virtual ~ShortcutOp() = default;

  virtual void forward(const void* x, void* y) = 0;
  /// dx (N,H,W,C) += dy at the pixels and channels taken. Adds: the block's other branch has written dx before.
  virtual void backward(const void* dy, void* dx) = 0;
};

}  // namespace convoy::ops
