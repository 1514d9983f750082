/// Builds the instruction list of one stage, so that a schedule has to give only the order of its forward and backward
/// passes.
#pragma once

#include <functional>

#include "convoy/schedule/schedule.h"

namespace convoy::schedule {

/// Appends the passes of micro-batches through chunks to the instruction list of a stage. Each pass comes with its
/// instructions for loading, receiving, the loss, sending and the exchange of gradients. `m` is the micro-batch.
class StageBuilder {
 public:
  StageBuilder(const PipelineSpec& spec, std::int64_t stage) : spec_(spec), stage_(stage) {}

  std::int64_t stage() const { return stage_; }
  std::int64_t stages() const { return spec_.stages; }
  std::int64_t micro_batches() const { return spec_.micro_batches; }

  /// Appends a forward pass: load, if the chunk reads samples; receive from the previous virtual stage; forward; and
  /// the send to the next virtual stage or, on the last one, the loss.
  void forward(std::int64_t m, std::int64_t chunk = 0);
  /// Appends a backward pass: receive of the gradient, backward, send of the gradient. For the last micro-batch it
  /// appends the backward bucket by bucket, with the exchanges of the buckets.
  void backward(std::int64_t m, std::int64_t chunk = 0);
  /// Appends a data gradient: receive of the gradient, BackwardInput, send of the gradient.
  void backward_input(std::int64_t m, std::int64_t chunk = 0);
  /// Appends a weight gradient. For the last micro-batch it appends BackwardWeight bucket by bucket, with the exchanges
  /// of the buckets.
  void backward_weight(std::int64_t m, std::int64_t chunk = 0);

  /// Appends the last folds, updates and gathers of the step, and returns the list. The builder must not be used
  /// afterwards.
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
  StageProgram reduced_;  ///< all ReduceBucket instructions that were appended
};

/// Throws Error if the spec is not a valid pipeline: a number is below 1, or a list does not have one entry per virtual
/// stage.
void check(const PipelineSpec& spec);

/// Returns the instruction list of each stage: write(builder) appends its passes. Throws Error if the spec is not a
/// valid pipeline.
Schedule build(const PipelineSpec& spec, const std::function<void(StageBuilder&)>& write);

}  // namespace convoy::schedule
