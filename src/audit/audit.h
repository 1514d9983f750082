/// Checks training steps by computing a part of them on another rank (run.audit_every): as the layout never changes the
/// result, what two ranks computed of the same micro-batch is equal to the bit, or one of them was wrong.
///
/// Before step k each rank takes checksums of its parameters and of its optimizer's state. Replica d then computes one
/// micro-batch of replica d + 1 (the last replica: of the first), and sends the checksums of all that it computed to
/// that replica's rank of its stage, together with that of its parameters. When step k has its gradients, each rank
/// compares its memory with its checksums from before the step, and its parameters and that micro-batch with those of
/// the other replica. If anything differs on any rank, the step is not applied (StepOutcome::kWrong). Only then do
/// further computations find which rank was wrong.
///
/// A check does not see sums over micro-batches and replicas, and the update itself, except for what they leave in
/// memory that all replicas hold; nor changes of the optimizer's state between two checks.
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
  /// Opens a source of what this rank reads of one micro-batch: number `number` of step `step`, counted from 1.
  using OpenMicroBatch = std::function<std::unique_ptr<BatchSource>(std::int64_t step, std::int64_t number)>;

  /// The runtime must outlive it.
  Audit(RankRuntime& runtime, OpenMicroBatch open) : runtime_(runtime), open_(std::move(open)) {}

  /// Whether the step of this number, counted from 1, is checked.
  bool is_due(std::int64_t step) const;
  /// Opens what begin() will read, so that it is loaded by then. All ranks call it some time before that step.
  void prepare(std::int64_t step);
  /// Computes a micro-batch of the next replica, and tells StepAudit what this rank's own must give. All ranks call it
  /// before that step.
  void begin(std::int64_t step);

  struct Result {
    std::vector<AuditFinding> findings;
    std::vector<std::string> places;  ///< node and device of each rank: "node7, GPU-5e1f"
  };
  /// Finds which ranks were wrong. All ranks call it after a step that was found wrong; only rank 0 gets findings.
  Result settle();

  /// The number, among each replica's, of the micro-batch that was computed twice in the latest step that was checked.
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
  std::int64_t step_ = 0;       ///< the latest step that was checked
  std::int64_t draws_for_ = 0;  ///< RankRuntime::num_steps() before it
  std::int64_t micro_batch_ = 0;
  std::vector<std::uint64_t> neighbour_;
  std::unique_ptr<BatchSource> prepared_;  ///< for the neighbour's micro-batch of the step below
  std::int64_t prepared_step_ = 0;
};

}  // namespace convoy
