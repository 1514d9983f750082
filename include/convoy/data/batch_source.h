/// Where a step's samples come from: the loader in a run, golden data in a test.
#pragma once

#include <cstdint>
#include <string_view>

#include "convoy/base/features.h"

namespace convoy {

/// Gives the micro-batches of a replica in the order in which the step program asks for them.
class BatchSource {
 public:
  virtual ~BatchSource() = default;

  /// Before the first load of each step.
  virtual void begin_step() {}
  /// Writes a feature (convoy/base/features.h) of the replica's micro-batch (0.. within the step) to where it is read:
  /// in memory that the device reads, in order with its work. A rank asks only for those that its stage reads.
  virtual void load(std::string_view feature, std::int64_t micro_batch, void* to) = 0;
  /// Seconds that load() has waited because nothing was ready.
  virtual double wait_seconds() const { return 0; }
};

}  // namespace convoy
