/// Source of a step's samples: the loader in a run, golden data in a test.
#pragma once

#include <cstdint>
#include <string_view>

namespace convoy {

/// Gives the micro-batches of a replica in the order in which the step program asks for them.
class BatchSource {
 public:
  virtual ~BatchSource() = default;

  /// Called before the first load() of each step.
  virtual void begin_step() {}
  /// Writes a feature (convoy/base/features.h) of the replica's micro-batch, counted from 0 within the step, to `to`:
  /// memory that the device reads, in order with the device's work. A rank asks only for features that its stage reads.
  virtual void load(std::string_view feature, std::int64_t micro_batch, void* to) = 0;
  /// Total seconds that load() has waited because nothing was ready.
  virtual double wait_seconds() const { return 0; }
};

}  // namespace convoy
