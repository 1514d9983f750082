/// An interface of the source of a step's samples, which is the loader in a run and fixed data in a test.
#pragma once

#include <cstdint>
#include <string_view>

namespace convoy {

/// Provides the micro-batches of a replica in the order in which its instructions ask for them.
class BatchSource {
 public:
  virtual ~BatchSource() = default;

  /// Called before the first load() of each step.
  virtual void begin_step() {}
  /// Writes a feature (convoy/base/features.h) of one of the replica's micro-batches, counted from 0 within the step,
  /// to `to`. This is memory that the device reads; the write is queued on the device's stream, after the work issued
  /// so far. A rank asks only for features that its stage reads.
  virtual void load(std::string_view feature, std::int64_t micro_batch, void* to) = 0;
  /// The total time in seconds for which load() has waited because no micro-batch was ready.
  virtual double wait_seconds() const { return 0; }
};

}  // namespace convoy
