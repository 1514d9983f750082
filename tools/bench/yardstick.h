/// What oneDNN itself needs for a network's products and nothing else: the bound that a step is measured against.
#pragma once

#include <memory>

#include "timed_backend.h"

namespace convoy::bench {

/// Every convolution and matrix product of a step with oneDNN's primitives called directly, in the memory formats that
/// oneDNN likes best (`any`), nothing reordered, nothing between them. Of convolutions in float32.
class Yardstick {
 public:
  explicit Yardstick(const Products& products);
  ~Yardstick();

  /// Seconds of forward, data gradient (where it is needed) and weight gradient of all of them, once.
  double run();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace convoy::bench
