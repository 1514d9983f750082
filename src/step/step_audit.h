/// Checks a training step before its update is applied: this rank's memory must not have changed by itself since the
/// previous step, and one micro-batch must have given the same results as another replica has computed for it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "step/micro_batch_checksums.h"
#include "step/stage.h"
#include "step/step_executor.h"
#include "update/sharded_update.h"

namespace convoy {

/// Checksums of the memory that a rank keeps from step to step: parameters, their copies, optimizer state, moving
/// average.
class MemoryChecksums {
 public:
  /// All arguments must outlive this object.
  MemoryChecksums(const Stage& stage, const ShardedUpdate& update, Device& device, ops::ElementwiseOps& elementwise);

  /// Computes and keeps the checksums of the memory as it is now. Waits for the device.
  void take();
  /// Returns which parts of the memory have changed since take(): bit i for element i of names(). Waits for the device.
  std::uint64_t changes();
  /// The checksum of the float32 parameters at the last take(). It must be equal in all replicas of a stage.
  std::uint64_t parameters() const { return taken_.front(); }

  /// Returns the names of the parts, in their order: "the parameters", "the parameters' rounded copies", "the
  /// optimizer's state 1" ... The arguments say which parts exist.
  static std::vector<std::string> names(bool has_copies, std::int64_t num_states, bool has_ema);

 private:
  /// A range of device memory that has a checksum.
  struct Part {
    const void* data = nullptr;
    std::int64_t size_bytes = 0;
  };

  std::vector<std::uint64_t> compute();

  Device& device_;
  ops::ElementwiseOps& elementwise_;
  std::vector<Part> parts_;
  HostBuffer sums_;  ///< std::uint64_t: takes the checksums of parts_
  std::vector<std::uint64_t> taken_;
};

/// Computes one micro-batch of a training step a second time: its forward and its backward. Nothing is exchanged
/// between replicas, and no weight changes.
class MicroBatchRepeat {
 public:
  /// All ranks of the grid call it, before the runtime's first step. The arguments must outlive this object.
  MicroBatchRepeat(RankRuntime& runtime, LossScale& loss_scale);

  /// Computes a micro-batch and returns its checksums (MicroBatchChecksums::values()), which are valid until the next
  /// call. `number` is the index of the micro-batch in the step, over all replicas; it may belong to another replica.
  /// `source` gives it as its only micro-batch. Cells draw random numbers for training step `step`, counted from 0. All
  /// ranks of this replica call it, between steps.
  std::span<const std::uint64_t> run(BatchSource& source, std::int64_t number, std::int64_t step);

 private:
  RankRuntime& runtime_;
  GradientTree tree_;
  std::unique_ptr<StepLoss> loss_;  ///< null except on the last stage
  MicroBatchChecksums micro_batch_;
  StepExecutor executor_;
};

/// The checks of one training step. The step's judge calls holds() before any update.
class StepAudit {
 public:
  /// All ranks of the grid call it, before the runtime's first step. The arguments must outlive this object.
  StepAudit(RankRuntime& runtime, const ExecutorParts& audited);

  /// The checksums that another rank of the same stage has computed.
  struct Expected {
    std::uint64_t parameters = 0;            ///< its MemoryChecksums::parameters()
    std::vector<std::uint64_t> micro_batch;  ///< its MicroBatchChecksums::values() for the micro-batch
  };
  /// Lets the next step be checked by this replica's micro-batch m, an even number (MicroBatchChecksums). Called
  /// between steps, after memory().take().
  void begin(std::int64_t m, Expected expected);
  bool is_checking() const { return is_checking_; }
  /// Whether the memory, the parameters and the micro-batch have the expected checksums. Called before any update, when
  /// all gradients are complete and the device is idle.
  bool holds();
  /// Ends the check of a step. Called after the step.
  void end() {
    micro_batch_.end_recording();
    is_checking_ = false;
  }

  /// The checksums of the micro-batch that is checked. Observes the executor of the step.
  MicroBatchChecksums& micro_batch() { return micro_batch_; }
  /// Computes one micro-batch a second time, between steps.
  MicroBatchRepeat& repeat() { return repeat_; }
  /// The checksums of this rank's memory.
  MemoryChecksums& memory() { return memory_; }
  /// The parts of the memory that had changed in the last call of holds(), as the bits of MemoryChecksums::changes();
  /// 0: none had.
  std::uint64_t memory_changes() const { return memory_changes_; }

 private:
  MicroBatchChecksums micro_batch_;
  MemoryChecksums memory_;
  MicroBatchRepeat repeat_;
  Expected expected_;
  std::uint64_t memory_changes_ = 0;
  bool is_checking_ = false;
};

}  // namespace convoy
