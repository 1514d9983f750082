/// Builds instruction lists, so that a schedule has to give only the order of its forward and backward passes; and
/// finds such orders, by rule or by simulated time. A stage has one or several chunks (runs of cells); each micro-batch
/// passes through each chunk.
#pragma once

#include <functional>
#include <vector>

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

/// A chunk of a stage, and a micro-batch that passes through it.
struct Visit {
  std::int64_t chunk = 0;
  std::int64_t micro_batch = 0;
};

/// A forward pass, backward pass, data gradient or weight gradient of a micro-batch in a chunk.
struct Pass {
  Op op = Op::kForward;  ///< kForward, kBackward, kBackwardInput or kBackwardWeight
  Visit visit;
};

/// For each stage, its passes in the order in which it makes them.
using Orders = std::vector<std::vector<Pass>>;

/// The conditions that the orders of a pipeline must fulfil. All stages make their forward passes in the sequence
/// `forward`, and their backward passes (or data gradients) and weight gradients in the sequence `backward`. An order
/// decides from which of these sequences the next pass is taken.
struct OrderRule {
  std::vector<Visit> forward, backward;
  /// For each stage, the maximum number of forward passes that are done while their backward pass, or data gradient, is
  /// not.
  std::vector<std::int64_t> max_ahead;
  bool splits_backward = false;  ///< whether data gradients and weight gradients are separate passes
  /// Maximum number of forward passes that are done while their weight gradient is not. Used only if splits_backward.
  std::int64_t max_held = 0;
};

/// Returns the orders in which each stage makes a forward pass whenever max_ahead allows it, else a backward pass, as
/// in 1F1B. If the backward is split, the weight gradient of a micro-batch comes lag[stage] data gradients after its
/// own.
Orders orders_in_turns(const OrderRule& rule, const std::vector<std::int64_t>& lag);

/// Returns orders that are found by simulating the step (list_scheduler.cpp). A stage that is free makes the first of
/// these passes that is possible:
///   1. a forward pass, if max_ahead allows it; if that would exceed max_held, a weight gradient instead
///   2. a backward pass, or data gradient
///   3. a weight gradient
/// If none is possible, it waits for the next message. Simulated times are integers, so that all ranks decide alike.
///
/// The simulation never gets stuck. Consider the stage whose next backward pass comes first in the sequence (of
/// several, the one nearest the loss): its gradient is available, because the next virtual stage has done that backward
/// pass.
Orders list_schedule(const PipelineSpec& spec, const OrderRule& rule);

/// Returns spec.costs or, if they are empty, equal costs: forward, data gradient and weight gradient of each chunk take
/// 1 second each.
PipelineCosts costs_or_equal(const PipelineSpec& spec);

/// Returns the instruction lists in which each stage makes its passes in the given order, with all messages and
/// exchanges. Throws Error if the spec is not a valid pipeline.
Schedule build(const PipelineSpec& spec, const Orders& orders);

/// Builds the instruction lists of each candidate, simulates a step with each, and returns the lists of the shortest
/// step; of equal ones, the first.
Schedule build_fastest(const PipelineSpec& spec, const std::vector<Orders>& candidates);

}  // namespace convoy::schedule
