/// Checksums of all that a rank computes of one micro-batch in training. Ranks of one stage, in whatever replica, get
/// equal checksums of the same micro-batch, to the bit: what differs was computed wrongly.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "convoy/device/device.h"
#include "convoy/ops/elementwise.h"

#include "plan/stage_plan.h"

namespace convoy {

/// The tensors that one checksum of a record covers.
struct RecordItem {
  enum class Kind {
    kFeatures,        ///< features of the samples, as they were loaded
    kInput,           ///< the chunk's input, as it came from the virtual stage before
    kOutput,          ///< the chunk's output
    kLoss,            ///< the loss, on the last stage
    kOutputGradient,  ///< gradient of the chunk's output, from the virtual stage after it or from the loss
    kWeightGradient,  ///< weight gradients of a bucket
    kInputGradient,   ///< gradient of the chunk's input, for the virtual stage before
  };

  Kind kind = Kind::kLoss;
  std::int64_t chunk = 0;
  std::int64_t bucket = 0;  ///< index in the stage's layout; only for weight gradients
};

/// Returns the items of a stage, in the order of its records.
std::vector<RecordItem> record_items(const StagePlan& plan);

class MicroBatchRecord {
 public:
  /// All arguments must outlive the record.
  MicroBatchRecord(const StagePlan& plan, Device& device, ops::ElementwiseOps& elementwise);

  /// Empties the record, and begins to record micro-batch m of the replica's step. Called between steps.
  void begin(std::int64_t m);
  /// Ends the recording: the record is complete, or is not needed.
  void end() { micro_batch_ = -1; }
  bool is_of(std::int64_t m) const { return micro_batch_ == m; }

  /// Issues the work for the item; several tensors of one item are added up.
  void add(RecordItem::Kind kind, std::int64_t chunk, const void* data, std::int64_t size_bytes);
  /// Issues the work for the weight gradients of these cells' buckets, which are complete. `gradients` is an arena.
  void add_weight_gradients(std::int64_t chunk, const CellRange& cells, const float* gradients);

  /// The checksums in the order of record_items(); valid after Device::synchronize(). Items without data have 0.
  std::span<const std::uint64_t> checksums() const { return sums_.as<const std::uint64_t>(); }

 private:
  std::uint64_t* sum_of(RecordItem::Kind kind, std::int64_t chunk) const;

  const StagePlan& plan_;
  ops::ElementwiseOps& elementwise_;
  HostBuffer sums_;  ///< std::uint64_t
  std::int64_t micro_batch_ = -1;
};

}  // namespace convoy
