/// What oneDNN itself needs for a network's convolutions and nothing else: the bound that a step is measured against.
#pragma once

#include <memory>
#include <vector>

#include "convoy/ops/convolution.h"

namespace convoy::bench {

/// Every convolution of a step with oneDNN's primitives called directly, in the memory formats that oneDNN likes best
/// (`any` for activations and weights), nothing reordered, nothing between them.
class Yardstick {
 public:
  explicit Yardstick(const std::vector<ops::ConvolutionSpec>& specs);
  ~Yardstick();

  /// Seconds of forward, data gradient (where it is needed) and weight gradient of all convolutions, once.
  double run();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace convoy::bench
