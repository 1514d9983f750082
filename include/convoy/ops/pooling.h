/// The contracts of pooling: maximum and average over windows, and the average over the whole image.
#pragma once

#include <cstdint>

#include "convoy/base/data_type.h"
#include "convoy/base/shape.h"

namespace convoy::ops {

/// Square windows. Padding never wins a maximum; an average counts only the pixels inside the image.
struct PoolingSpec {
  Shape x;  ///< (N,H,W,C)
  std::int64_t kernel = 2;
  std::int64_t stride = 2;
  std::int64_t padding = 0;
  DataType type = DataType::kFloat32;  ///< of x, y, dx, dy; sums are float32

  Shape y() const {
    return {x.n, (x.h + 2 * padding - kernel) / stride + 1, (x.w + 2 * padding - kernel) / stride + 1, x.c};
  }
};

/// y[n,p,q,c] = max over the window; the first in row-major order among equals.
/// winner[n,p,q,c]: its index in the window, row * kernel + column, which backward reads.
class MaxPoolOp {
 public:
  using Spec = PoolingSpec;
  static constexpr const char* kName = "max pooling";
  static constexpr std::int64_t kMaxKernel = 15;  ///< an index in the window is one byte

  virtual ~MaxPoolOp() = default;

  virtual void forward(const void* x, void* y, std::uint8_t* winner) = 0;
  /// dx (N,H,W,C) overwritten: each dy goes to its window's winner, overlapping windows add up.
  virtual void backward(const void* dy, const std::uint8_t* winner, void* dx) = 0;
};

/// y[n,p,q,c] = mean over the pixels of the window that lie inside the image.
class AveragePoolOp {
 public:
  using Spec = PoolingSpec;
  static constexpr const char* kName = "average pooling";

  virtual ~AveragePoolOp() = default;

  virtual void forward(const void* x, void* y) = 0;
  virtual void backward(const void* dy, void* dx) = 0;  ///< dx overwritten
};

struct GlobalPoolingSpec {
  Shape x;  ///< (N,H,W,C)
  DataType type = DataType::kFloat32;
};

/// y (N,1,1,C) = mean over H and W of x (N,H,W,C).
class GlobalAveragePoolOp {
 public:
  using Spec = GlobalPoolingSpec;
  static constexpr const char* kName = "global average pooling";

  virtual ~GlobalAveragePoolOp() = default;

  virtual void forward(const void* x, void* y) = 0;
  virtual void backward(const void* dy, void* dx) = 0;  ///< dx overwritten
};

}  // namespace convoy::ops
