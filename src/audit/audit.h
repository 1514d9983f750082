/// Checks of training steps by computing a part of them elsewhere (run.audit_every): since the layout never changes the
/// answer, what two ranks computed of the same micro-batch is equal to the bit, or one of them was wrong.
///
/// Before step k each rank takes checksums of its parameters and of its optimizer's state. Replica d then computes one
/// micro-batch of replica d + 1, counted round, and sends the checksums of all that it saw to that replica's rank of
/// its stage, together with that of its parameters. When step k has its gradients, each rank has its own checksums of
/// that micro-batch: what differs, on any rank, keeps the step from being applied (StepOutcome::kWrong). Only then do
/// further computations settle who was wrong.
///
/// What a check does not see: sums over micro-batches and replicas, and the update itself, but for what they leave in
/// memory that replicas share; changes of the optimizer's state between two checks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "convoy/comm/communicator.h"
#include "convoy/data/batch_source.h"

#include "audit/judge.h"
#include "step/rank_runtime.h"

namespace convoy {

class Audit {
 public:
  /// Opens what this rank reads of micro-batch `number` of the step, counted from 1, as the source's only one.
  using OpenMicroBatch = std::function<std::unique_ptr<BatchSource>(std::int64_t step, std::int64_t number)>;

  /// The runtime outlives it.
  Audit(RankRuntime& runtime, OpenMicroBatch open) : runtime_(runtime), open_(std::move(open)) {}

  /// Whether the step of this number, counted from 1, is checked.
  bool is_due(std::int64_t step) const;
  /// All ranks, some time before that step: opens what begin() will read, so that it is there by then.
  void prepare(std::int64_t step);
  /// All ranks, before that step: computes a neighbour's micro-batch, and says what this rank expects of the step.
  void begin(std::int64_t step);

  struct Result {
    std::vector<AuditFinding> findings;
    std::vector<std::string> places;  ///< of each rank: "node7, GPU-5e1f"
  };
  /// All ranks, after a step that was found wrong: who it was. Empty but on rank 0.
  Result settle();

  /// Of the latest step that was checked: which micro-batch of each replica's was computed twice.
  std::int64_t micro_batch() const { return micro_batch_; }

 private:
  std::int64_t replica_after(std::int64_t shift) const;
  std::int64_t choose_micro_batch(std::int64_t step) const;
  std::int64_t number_of(std::int64_t micro_batch, std::int64_t shift) const;
  std::vector<std::uint64_t> compute(std::int64_t shift, BatchSource& source);
  std::vector<std::uint64_t> compute_again(std::int64_t shift);
  StepAudit::Expected exchange(const std::vector<std::uint64_t>& neighbour) const;
  std::vector<std::byte> pack(const std::vector<std::vector<std::uint64_t>>& records) const;

  RankRuntime& runtime_;
  OpenMicroBatch open_;
  std::int64_t step_ = 0;       ///< the latest that was checked
  std::int64_t draws_for_ = 0;  ///< RankRuntime::num_steps() before it
  std::int64_t micro_batch_ = 0;
  std::vector<std::uint64_t> neighbour_;
  std::unique_ptr<BatchSource> prepared_;  ///< for the neighbour's micro-batch of the step below
  std::int64_t prepared_step_ = 0;
};

}  // namespace convoy
