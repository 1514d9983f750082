/// Writes one stage's list, so that a schedule has to give only the order in which micro-batches go forward and
/// backward.
#pragma once

#include <functional>

#include "convoy/schedule/schedule.h"

namespace convoy::schedule {

/// Appends whole passes of one micro-batch through one chunk, with all that is to be loaded, received, scored and sent.
class StageBuilder {
 public:
  StageBuilder(const PipelineSpec& spec, std::int64_t stage) : spec_(spec), stage_(stage) {}

  std::int64_t stage() const { return stage_; }
  std::int64_t stages() const { return spec_.stages; }
  std::int64_t micro_batches() const { return spec_.micro_batches; }

  /// Appends the input from the loader and the previous virtual stage, the forward pass, and the send to the next
  /// virtual stage or the loss.
  void forward(std::int64_t m, std::int64_t chunk = 0);
  /// Appends the receive of the gradient, the backward, and the send of the gradient; for the last micro-batch also the
  /// instructions of the buckets (by_bucket).
  void backward(std::int64_t m, std::int64_t chunk = 0);
  /// Appends the receive of the gradient, the data gradient alone, and the send of the gradient; no buckets.
  void backward_input(std::int64_t m, std::int64_t chunk = 0);
  /// Appends the weight gradient; for the last micro-batch also the instructions of the buckets (by_bucket).
  void backward_weight(std::int64_t m, std::int64_t chunk = 0);

  /// Returns the list after appending the end of the step.
  StageProgram finish();

 private:
  void by_bucket(Op op, std::int64_t m, std::int64_t chunk);
  void complete(const Instruction& reduce);
  void add(Op op, std::int64_t m, std::int64_t chunk, std::int64_t bucket = kAllBuckets) {
    program_.push_back({.op = op, .micro_batch = m, .bucket = bucket, .chunk = chunk});
  }
  void add_for(Op op, const Instruction& reduce) { add(op, -1, reduce.chunk, reduce.bucket); }
  std::int64_t virtual_stage(std::int64_t chunk) const { return chunk * spec_.stages + stage_; }
  bool is_first(std::int64_t chunk) const { return virtual_stage(chunk) == 0; }
  bool is_last(std::int64_t chunk) const { return virtual_stage(chunk) == spec_.virtual_stages() - 1; }
  std::int64_t num_buckets(std::int64_t chunk) const { return spec_.num_buckets[virtual_stage(chunk)]; }

  const PipelineSpec& spec_;
  std::int64_t stage_;
  StageProgram program_;
  StageProgram reduced_;  ///< the ReduceBucket of every bucket so far
};

/// Throws Error if the spec is not a pipeline.
void check(const PipelineSpec& spec);

/// Returns the list of each stage, which `write` writes. Throws Error if the spec is not a pipeline.
Schedule build(const PipelineSpec& spec, const std::function<void(StageBuilder&)>& write);

}  // namespace convoy::schedule
