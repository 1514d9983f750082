/// Checks training steps by computing a part of them a second time on another rank (run.audit_every). The layout never
/// changes the result. So if two ranks compute the same micro-batch and their results differ in a bit, one of them is
/// wrong.
///
/// Before a step that is checked, each rank takes checksums of its parameters and of its optimizer state. Replica d
/// then computes one micro-batch of replica d + 1 (the last replica: of the first). It sends the checksums of all
/// results to the rank of the same stage in that replica, together with the checksum of its parameters. When the step
/// has computed its gradients, each rank compares its memory with its own checksums, and its parameters and that
/// micro-batch with the checksums of the other replica. If anything differs on any rank, the step is not applied
/// (StepOutcome::kWrong). Only then do further computations find out which rank is wrong.
///
/// A check does not see the sums over micro-batches and replicas, nor the update itself, except for their effect on
/// memory that all replicas hold. It does not see changes of the optimizer state between two checks.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "convoy/data/batch_source.h"

#include "audit/judge.h"
#include "step/training_step.h"

namespace convoy {

/// The audits of a training: computes a micro-batch of another replica before a checked step, and finds the wrong rank
/// after it.
class Audit {
 public:
  /// Opens a source for one micro-batch: micro-batch `number` of step `step`. `number` is counted from 0 over all
  /// replicas, `step` from 1.
  using OpenMicroBatch = std::function<std::unique_ptr<BatchSource>(std::int64_t step, std::int64_t number)>;

  /// `training` must outlive this object.
  Audit(TrainingStep& training, OpenMicroBatch open)
      : training_(training), runtime_(training.runtime()), open_(std::move(open)) {}

  /// Whether step number `step`, counted from 1, is checked.
  bool is_due(std::int64_t step) const;
  /// Opens the samples that begin(step) will read, so that they are loaded in time. All ranks call it some time before
  /// that step.
  void prepare(std::int64_t step);
  /// Computes a micro-batch of the next replica, and gives StepAudit the checksums that this rank's own micro-batch
  /// must have. All ranks call it before step number `step`.
  void begin(std::int64_t step);

  /// The result of settle().
  struct Result {
    std::vector<AuditFinding> findings;
    std::vector<std::string> places;  ///< by rank: node and device, "node7, GPU-5e1f"
  };
  /// Finds which ranks are wrong. All ranks call it after a step with StepOutcome::kWrong. Only rank 0 gets findings
  /// and places.
  Result settle();

  /// Index, among the micro-batches of each replica, of the micro-batch that was computed twice in the latest checked
  /// step.
  std::int64_t micro_batch() const { return micro_batch_; }

 private:
  std::int64_t replica_after(std::int64_t shift) const;
  std::int64_t choose_micro_batch(std::int64_t step) const;
  std::int64_t number_of(std::int64_t micro_batch, std::int64_t shift) const;
  std::vector<std::uint64_t> compute(std::int64_t shift, BatchSource& source);
  std::vector<std::uint64_t> compute_again(std::int64_t shift);
  StepAudit::Expected exchange(const std::vector<std::uint64_t>& neighbour) const;
  std::vector<std::uint64_t> own_evidence(const std::vector<std::vector<std::uint64_t>>& checksums) const;

  TrainingStep& training_;
  const RankRuntime& runtime_;
  OpenMicroBatch open_;
  std::int64_t step_ = 0;       ///< number of the latest checked step
  std::int64_t draws_for_ = 0;  ///< TrainingStep::counts().steps before that step: cells draw random numbers by it
  std::int64_t micro_batch_ = 0;
  std::vector<std::uint64_t> neighbour_;
  std::unique_ptr<BatchSource>
      prepared_;  ///< for the micro-batch of the next replica in step prepared_step_; null: none
  std::int64_t prepared_step_ = 0;
};

}  // namespace convoy
