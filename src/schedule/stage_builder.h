/// Writes one stage's list, so that a schedule only has to say in which order micro-batches go forward and backward.
#pragma once

#include <functional>
#include <utility>

#include "convoy/schedule/schedule.h"

namespace convoy::schedule {

/// Appends whole passes of one micro-batch through one stage, with whatever it must load, receive, score and send.
class StageBuilder {
 public:
  StageBuilder(const PipelineSpec& spec, std::int64_t stage);

  std::int64_t stage() const { return stage_; }
  std::int64_t stages() const { return stages_; }
  std::int64_t micro_batches() const { return micro_batches_; }

  /// In from the loader or the stage before, forward, then out to the stage behind or into the loss.
  void forward(std::int64_t m);
  /// The gradient in, backward, the gradient out. The last micro-batch also hands over the buckets (see there).
  void backward(std::int64_t m);

  StageProgram take() { return std::move(program_); }

 private:
  void backward_by_bucket(std::int64_t m);
  void complete(std::int64_t bucket);
  void add(Op op, std::int64_t m, std::int64_t bucket = kAllBuckets) { program_.push_back({op, m, bucket}); }
  void add_bucket(Op op, std::int64_t bucket) { program_.push_back({op, -1, bucket}); }
  bool is_first() const { return stage_ == 0; }
  bool is_last() const { return stage_ == stages_ - 1; }

  std::int64_t stage_, stages_, micro_batches_, num_buckets_;
  bool agrees_;
  StageProgram program_;
};

/// A list for each stage, written by `write`. Throws Error where the spec is no pipeline.
Schedule build(const PipelineSpec& spec, const std::function<void(StageBuilder&)>& write);

}  // namespace convoy::schedule
