/// What a training step is checked for before it is applied: that a rank's memory has not changed by itself since the
/// step before, and that one micro-batch gave what another replica computed of it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "step/micro_batch_record.h"
#include "step/stage.h"
#include "update/sharded_update.h"

namespace convoy {

/// Checksums of what a rank keeps from step to step.
class MemoryChecksums {
 public:
  /// All outlive it.
  MemoryChecksums(const Stage& stage, const ShardedUpdate& update, Device& device, ops::ElementwiseOps& elementwise);

  /// Of the memory as it is now. Waits for the device.
  void take();
  /// What has changed since: bit i for names()[i]. Waits for the device.
  std::uint64_t changes();
  /// Of the float32 parameters, when they were taken: alike in all replicas of a stage.
  std::uint64_t parameters() const { return taken_.front(); }

  /// "the parameters", "the parameters' rounded copies", "the optimizer's state 1" ...
  static std::vector<std::string> names(bool has_copies, std::int64_t num_slots, bool has_ema);

 private:
  struct Part {
    const void* data = nullptr;
    std::int64_t size_bytes = 0;
  };

  std::vector<std::uint64_t> compute();

  Device& device_;
  ops::ElementwiseOps& elementwise_;
  std::vector<Part> parts_;
  HostBuffer sums_;  ///< std::uint64_t
  std::vector<std::uint64_t> taken_;
};

/// Of the training's executor.
class StepAudit {
 public:
  StepAudit(const Stage& stage, const ShardedUpdate& update, Device& device, ops::ElementwiseOps& elementwise)
      : record_(stage.plan(), device, elementwise), memory_(stage, update, device, elementwise) {}

  /// What another rank of the same stage says.
  struct Expected {
    std::uint64_t parameters = 0;            ///< MemoryChecksums'
    std::vector<std::uint64_t> micro_batch;  ///< MicroBatchRecord's
  };
  /// The next step is checked: its micro-batch m, an even number. Between steps; take() was called since the last one.
  void begin(std::int64_t m, Expected expected);
  bool is_checking() const { return is_checking_; }
  /// Once all gradients are there and the device's work is done, before any update: whether all is as it should be.
  bool holds();
  /// After the step.
  void end() {
    record_.end();
    is_checking_ = false;
  }

  MicroBatchRecord& record() { return record_; }
  MemoryChecksums& memory() { return memory_; }
  /// Of the last step that was checked.
  std::uint64_t memory_changes() const { return memory_changes_; }

 private:
  MicroBatchRecord record_;
  MemoryChecksums memory_;
  Expected expected_;
  std::uint64_t memory_changes_ = 0;
  bool is_checking_ = false;
};

}  // namespace convoy
