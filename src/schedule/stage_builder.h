/// Writes one stage's list, so that a schedule only has to say in which order micro-batches go forward and backward.
#pragma once

#include <functional>

#include "convoy/schedule/schedule.h"

namespace convoy::schedule {

/// Appends whole passes of one micro-batch through one chunk, with whatever it must load, receive, score and send.
class StageBuilder {
 public:
  StageBuilder(const PipelineSpec& spec, std::int64_t stage) : spec_(spec), stage_(stage) {}

  std::int64_t stage() const { return stage_; }
  std::int64_t stages() const { return spec_.stages; }
  std::int64_t micro_batches() const { return spec_.micro_batches; }

  /// In from the loader and the virtual stage before, forward, then out to the next one or into the loss.
  void forward(std::int64_t m, std::int64_t chunk = 0);
  /// The gradient in, backward, the gradient out. The last micro-batch also hands over the buckets (see there).
  void backward(std::int64_t m, std::int64_t chunk = 0);
  /// Likewise the data gradient alone; no buckets.
  void backward_input(std::int64_t m, std::int64_t chunk = 0);
  /// By weight. The last micro-batch also hands over the buckets.
  void backward_weight(std::int64_t m, std::int64_t chunk = 0);

  /// The list, with the end of the step.
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
  StageProgram reduced_;  ///< ReduceBucket of every bucket so far
};

/// Throws Error where the spec is not a pipeline.
void check(const PipelineSpec& spec);

/// A list for each stage, written by `write`. Throws Error where the spec is not a pipeline.
Schedule build(const PipelineSpec& spec, const std::function<void(StageBuilder&)>& write);

}  // namespace convoy::schedule
