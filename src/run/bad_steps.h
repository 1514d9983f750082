/// Decides what a training does after a step whose loss or gradients are infinite or NaN (train.on_bad_step). The step
/// itself was not applied on any rank (StepOutcome::kBad).
#pragma once

#include <cstdint>
#include <string>

#include "convoy/io/training_state.h"

#include "run/run_record.h"
#include "run/training_setup.h"

namespace convoy {

struct TrainParams;

/// What to do after a bad step: end the run, continue without the step, or go back to a checkpoint.
enum class BadStepAnswer { kStop, kSkip, kGoBack };

/// Returns what to do after a bad step. `state` counts the bad steps before it. All ranks get the same answer.
BadStepAnswer answer_bad_step(const TrainParams& train, const io::TrainingState& state);

/// Whether a warning is printed for the n-th skipped bad step, counted from 1: for the first four, then if n is a power
/// of two. A report costs a forward pass, and many reports hide other messages.
bool is_reported(std::int64_t n);

/// Handles the bad steps of a training.
class BadSteps {
 public:
  /// `setup` must outlive this object.
  explicit BadSteps(TrainingSetup& setup) : setup_(setup), params_(setup.params) {}

  /// Whether this run goes back to a checkpoint after a bad step (train.on_bad_step = rollback).
  bool may_go_back() const;

  /// Called by all ranks after each training step. `state` is the state after the step; it counts a bad step that is
  /// skipped, of which rank 0 warns. `record` is set on rank 0 only and has the step's row. Returns true if training
  /// must go back. Throws Error if the bad step ends the run; the message says where the numbers went wrong, and how to
  /// continue.
  bool must_go_back(StepOutcome outcome, io::TrainingState& state, const RunRecord* record) const;

  /// Called by all ranks: restores parameters and optimizer state from the newest checkpoint before the loss left its
  /// range, and returns its state with a lower learning rate factor. The steps after it read the same samples again,
  /// because the samples depend only on the step's number. `record` is set on rank 0 only. Throws Error if there is no
  /// such checkpoint.
  io::TrainingState go_back(const io::TrainingState& now, RunRecord* record) const;

  /// Called by all ranks after the checkpoint of `state` was saved again: removes the checkpoints of later steps, up to
  /// the bad step `last`. Otherwise a restart would resume from them.
  void remove_later_checkpoints(const io::TrainingState& state, std::int64_t last) const;

 private:
  std::string describe(const io::TrainingState& state) const;
  std::string describe_stop(const io::TrainingState& state, const RunRecord& record) const;

  TrainingSetup& setup_;
  const Parameters& params_;
};

}  // namespace convoy
