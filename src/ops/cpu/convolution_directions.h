/// The parts of a convolution on the CPU. Each part is computed in the way that is fastest for its shape: by oneDNN's
/// convolution or matrix product, or by Winograd's products.
#pragma once

#include <vector>

#include "convoy/device/device.h"

namespace convoy::ops::cpu {

/// One direction of a convolution: y of x, or dx of dy.
class ConvolutionDirection {
 public:
  virtual ~ConvolutionDirection() = default;

  /// Loads w (K,R,S,C/G), which stays where it is until the next call.
  virtual void load_weights(const void* w) = 0;
  /// The copies of w that ConvolutionOp::packed_weights() returns. If two directions read one copy, the direction that
  /// loads it returns it.
  virtual std::vector<Buffer*> packed_weights() = 0;
  virtual void run(const void* from, void* to) = 0;
};

/// The weight gradient of a convolution: overwrites dw (K,R,S,C/G), computed of x and dy.
class ConvolutionWeightGradient {
 public:
  virtual ~ConvolutionWeightGradient() = default;

  virtual void run(const void* x, const void* dy, float* dw) = 0;
};

}  // namespace convoy::ops::cpu
