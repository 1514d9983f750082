/// Checksums of all that a rank computes of one micro-batch in training. Ranks that hold the same stage have the same
/// of the same micro-batch, to the bit, whichever replica they belong to: what differs was computed wrongly.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "convoy/device/device.h"
#include "convoy/ops/elementwise.h"

#include "plan/stage_plan.h"

namespace convoy {

/// What one checksum of a record is of.
struct RecordItem {
  enum class Kind {
    kFeatures,        ///< of the samples, as they were loaded
    kInput,           ///< as it came from the virtual stage before
    kOutput,          ///< of the chunk
    kLoss,            ///< on the last stage
    kOutputGradient,  ///< of the chunk, as it came from the virtual stage after it, or from the loss
    kWeightGradient,  ///< of a bucket
    kInputGradient,   ///< for the virtual stage before
  };

  Kind kind = Kind::kLoss;
  std::int64_t chunk = 0;
  std::int64_t bucket = 0;  ///< of the stage's layout; of weight gradients only
};

/// A stage's, in the order of its records.
std::vector<RecordItem> record_items(const StagePlan& plan);

class MicroBatchRecord {
 public:
  /// All outlive it.
  MicroBatchRecord(const StagePlan& plan, Device& device, ops::ElementwiseOps& elementwise);

  /// From here on it is of micro-batch m of the replica's step, and empty. Between steps.
  void begin(std::int64_t m);
  /// It is complete, or was not wanted.
  void end() { micro_batch_ = -1; }
  bool is_of(std::int64_t m) const { return micro_batch_ == m; }

  /// Issues the work for the item; several tensors of one item are added up.
  void add(RecordItem::Kind kind, std::int64_t chunk, const void* data, std::int64_t size_bytes);
  /// Of the buckets of these cells, which are complete; `gradients` is an arena.
  void add_weight_gradients(std::int64_t chunk, const CellRange& cells, const float* gradients);

  /// In the order of record_items(); after Device::synchronize(). What never came is 0.
  std::span<const std::uint64_t> checksums() const { return sums_.as<const std::uint64_t>(); }

 private:
  std::uint64_t* sum_of(RecordItem::Kind kind, std::int64_t chunk) const;

  const StagePlan& plan_;
  ops::ElementwiseOps& elementwise_;
  HostBuffer sums_;  ///< std::uint64_t
  std::int64_t micro_batch_ = -1;
};

}  // namespace convoy
