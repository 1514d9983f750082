/// Checksums of all tensors that a rank computes from one micro-batch in training. Ranks of the same stage in different
/// replicas must get equal checksums for the same micro-batch; if they differ, one of them has computed wrongly.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "step/rank_runtime.h"
#include "step/step_observer.h"
#include "update/gradient_tree.h"

namespace convoy {

/// Names the tensors that one checksum of MicroBatchChecksums covers.
struct ChecksumItem {
  /// Which tensors they are.
  enum class Kind {
    kFeatures,  ///< features of the samples, as they were loaded
    kInput,     ///< input of the chunk, as it was received from the previous virtual stage
    kOutput,    ///< output of the chunk
    kLoss,      ///< sums of the loss, on the last stage
    /// Gradient of the chunk's output, received from the next virtual stage or computed by the loss.
    kOutputGradient,
    kWeightGradient,  ///< weight gradients of a bucket
    kInputGradient,   ///< gradient of the chunk's input, which is sent to the previous virtual stage
  };

  Kind kind = Kind::kLoss;
  std::int64_t chunk = 0;
  std::int64_t bucket = 0;  ///< index in ArenaLayout::buckets; only for kWeightGradient
};

/// Returns the items of a stage, in the order of MicroBatchChecksums::values().
std::vector<ChecksumItem> checksum_items(const StagePlan& plan);

/// Takes the checksums of one micro-batch of a step. Observes the executor of the step.
class MicroBatchChecksums final : public InstructionObserver {
 public:
  /// All arguments must outlive this object. `loss` is null except on the last stage; `tree` takes the weight
  /// gradients.
  MicroBatchChecksums(const RankRuntime& runtime, const StepLoss* loss, GradientTree& tree);

  /// Sets all checksums to 0, and takes those of micro-batch m of this replica in the next step. m must be even: only
  /// then does the gradient tree keep its gradients apart from others until they are read. Called between steps.
  void begin_recording(std::int64_t m);
  /// Takes no checksums from here on.
  void end_recording() { micro_batch_ = -1; }

  void begin(const Action& action) override;
  void end(const Action& action) override;

  /// The checksums in the order of checksum_items(); 0 for items without data. Valid after Device::synchronize().
  std::span<const std::uint64_t> values() const { return sums_.as<const std::uint64_t>(); }

 private:
  void add(ChecksumItem::Kind kind, std::int64_t chunk, const void* data, std::int64_t size_bytes);
  void add_loss(const Action& action);
  void add_weight_gradients(const Instruction& instruction);
  std::uint64_t* sum_of(ChecksumItem::Kind kind, std::int64_t chunk) const;

  const Stage& stage_;
  ops::ElementwiseOps& elementwise_;
  const StepLoss* loss_;
  GradientTree& tree_;
  HostBuffer sums_;                ///< std::uint64_t, in the order of checksum_items()
  std::int64_t micro_batch_ = -1;  ///< this replica's micro-batch whose checksums are taken; -1: none
};

}  // namespace convoy
