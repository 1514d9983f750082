/// What a convolution on the CPU consists of. Each part is computed by what is fastest for its shape: a convolution or
/// a matrix product of oneDNN's, or Winograd's products.
#pragma once

#include <vector>

#include "convoy/device/device.h"

namespace convoy::ops::cpu {

/// y of x, or dx of dy.
class ConvolutionDirection {
 public:
  virtual ~ConvolutionDirection() = default;

  /// Of w (K,R,S,C/G), which stays where it is until the next call.
  virtual void load_weights(const void* w) = 0;
  /// As ConvolutionOp's; of a copy that two directions read, the one that loads it has it.
  virtual std::vector<Buffer*> packed_weights() = 0;
  virtual void run(const void* from, void* to) = 0;
};

/// dw (K,R,S,C/G) of x and dy; overwritten.
class ConvolutionWeightGradient {
 public:
  virtual ~ConvolutionWeightGradient() = default;

  virtual void run(const void* x, const void* dy, float* dw) = 0;
};

}  // namespace convoy::ops::cpu
