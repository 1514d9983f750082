/// Checks a training step before it is applied: a rank's memory must not have changed by itself since the step before,
/// and one micro-batch must have given the results that another replica computed of it.
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
  /// All arguments must outlive it.
  MemoryChecksums(const Stage& stage, const ShardedUpdate& update, Device& device, ops::ElementwiseOps& elementwise);

  /// Takes checksums of the memory as it is now. Waits for the device.
  void take();
  /// Returns what has changed since take(): bit i for names()[i]. Waits for the device.
  std::uint64_t changes();
  /// Checksum of the float32 parameters at the last take(): equal in all replicas of a stage.
  std::uint64_t parameters() const { return taken_.front(); }

  /// Returns the names of the parts: "the parameters", "the parameters' rounded copies", "the optimizer's state 1" ...
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

/// The checks of a training step, which the training's executor makes.
class StepAudit {
 public:
  StepAudit(const Stage& stage, const ShardedUpdate& update, Device& device, ops::ElementwiseOps& elementwise)
      : record_(stage.plan(), device, elementwise), memory_(stage, update, device, elementwise) {}

  /// What another rank of the same stage has computed.
  struct Expected {
    std::uint64_t parameters = 0;            ///< MemoryChecksums::parameters()
    std::vector<std::uint64_t> micro_batch;  ///< MicroBatchRecord::checksums()
  };
  /// Lets the next step be checked, by its micro-batch m, an even number. Called between steps, after memory().take().
  void begin(std::int64_t m, Expected expected);
  bool is_checking() const { return is_checking_; }
  /// Whether memory, parameters and micro-batch are as they should be. Called before any update, when all gradients are
  /// complete and the device's work is done.
  bool holds();
  /// Ends the check. Called after the step.
  void end() {
    record_.end();
    is_checking_ = false;
  }

  MicroBatchRecord& record() { return record_; }
  MemoryChecksums& memory() { return memory_; }
  /// MemoryChecksums::changes() of the last step that was checked.
  std::uint64_t memory_changes() const { return memory_changes_; }

 private:
  MicroBatchRecord record_;
  MemoryChecksums memory_;
  Expected expected_;
  std::uint64_t memory_changes_ = 0;
  bool is_checking_ = false;
};

}  // namespace convoy
