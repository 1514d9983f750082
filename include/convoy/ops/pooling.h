/// The contracts of pooling: maximum and average over windows, and the average over the whole image.
#pragma once

#include <cstdint>

#include "convoy/base/data_type.h"
#include "convoy/base/shape.h"

namespace convoy::ops {

/// Pooling over square windows. Padding never wins a maximum; an average counts only the pixels inside the image,
/// unless counts_padding. Adaptive average pooling has given numbers of windows instead: along an axis with H pixels
/// and P windows, window p has the pixels from floor(p H / P) to ceil((p + 1) H / P) - 1.
struct PoolingSpec {
  Shape x;  ///< shape of the input, (N,H,W,C)
  std::int64_t kernel = 2;
  std::int64_t stride = 2;
  std::int64_t padding = 0;
  DataType type = DataType::kFloat32;  ///< storage type of x, y, dx and dy; sums are float32
  // Only of averages:
  bool counts_padding = false;  ///< whether a mean counts the zeros beyond the border, too
  std::int64_t adaptive_h = 0;  ///< number of rows of y if windows are adaptive; else 0, and of columns, too
  std::int64_t adaptive_w = 0;

  bool is_adaptive() const { return adaptive_h > 0; }
  Shape y() const {
    if (is_adaptive()) return Shape::images(x.n, adaptive_h, adaptive_w, x.c);
    return Shape::images(x.n, (x.h + 2 * padding - kernel) / stride + 1, (x.w + 2 * padding - kernel) / stride + 1,
                         x.c);
  }
};

/// Max pooling: y[n,p,q,c] is the maximum of the window. winner[n,p,q,c], which backward reads, is the index of the
/// maximum in the window, row * kernel + column; of equal values, the first in row-major order.
class MaxPoolOp {
 public:
  using Spec = PoolingSpec;
  static constexpr const char* kName = "max pooling";
  static constexpr std::int64_t kMaxKernel = 15;  ///< largest kernel: an index in the window is stored in one byte

  virtual ~MaxPoolOp() = default;

  virtual void forward(const void* x, void* y, std::uint8_t* winner) = 0;
  /// Overwrites dx (N,H,W,C): each value of dy is added to the pixel that was the maximum of its window; all other
  /// pixels are 0.
  virtual void backward(const void* dy, const std::uint8_t* winner, void* dx) = 0;
};

/// Average pooling: y[n,p,q,c] is the sum of the pixels of the window that are inside the image, divided by the number
/// of pixels that the mean counts.
class AveragePoolOp {
 public:
  using Spec = PoolingSpec;
  static constexpr const char* kName = "average pooling";

  virtual ~AveragePoolOp() = default;

  virtual void forward(const void* x, void* y) = 0;
  virtual void backward(const void* dy, void* dx) = 0;  ///< overwrites dx
};

struct GlobalPoolingSpec {
  Shape x;  ///< shape of the input, (N,H,W,C)
  DataType type = DataType::kFloat32;
};

/// Global average pooling: y (N,1,1,C) is the mean over H and W of x (N,H,W,C).
class GlobalAveragePoolOp {
 public:
  using Spec = GlobalPoolingSpec;
  static constexpr const char* kName = "global average pooling";

  virtual ~GlobalAveragePoolOp() = default;

  virtual void forward(const void* x, void* y) = 0;
  virtual void backward(const void* dy, void* dx) = 0;  ///< overwrites dx
};

}  // namespace convoy::ops
