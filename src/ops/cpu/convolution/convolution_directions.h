/// The three passes of a convolution on the CPU: forward, data gradient and weight gradient. Each is computed in the
/// way that is fastest for its shape: by oneDNN's convolution or matrix product, or by own code, such as Winograd's
/// algorithm.
#pragma once

#include <vector>

#include "convoy/device/device.h"

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

}  // namespace convoy::ops::cpu
