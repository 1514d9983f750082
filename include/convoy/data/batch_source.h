/// Where a step's samples come from: the loader in a run, golden data in a test.
#pragma once

#include <cstdint>

#include "convoy/ops/softmax_cross_entropy.h"

namespace convoy {

/// Gives the micro-batches of a replica in the order in which the step program asks for them.
class BatchSource {
 public:
  virtual ~BatchSource() = default;

  /// Writes the images of the replica's micro-batch (0.. within the step), in the network's type, as (N,H,W,C) into
  /// device memory x, in order with the device's work. Called by the first stage only.
  virtual void load_images(std::int64_t micro_batch, void* x) = 0;
  /// Writes its labels (N) into host memory, and where samples are mixed (augment.mixup) what each is mixed with; else
  /// `seconds` is null. Called by the last stage only.
  virtual void load_labels(std::int64_t micro_batch, std::int32_t* labels, ops::SecondLabel* seconds) = 0;
  /// Seconds that load_images has waited because nothing was ready.
  virtual double wait_seconds() const { return 0; }
};

}  // namespace convoy
