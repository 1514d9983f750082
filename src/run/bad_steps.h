/// What a training does about a step whose loss or gradients are not finite numbers: train.on_bad_step. The step itself
/// was not applied, on any rank (StepOutcome::kBad).
#pragma once

#include <cstdint>
#include <string>

#include "convoy/io/training_state.h"

#include "run/run_record.h"
#include "run/training_samples.h"
#include "step/rank_runtime.h"

namespace convoy {

struct LearningRateSpec;
struct Parameters;
struct TrainParams;

enum class BadStepAnswer { kStop, kSkip, kGoBack };

/// Returns what to do about one more bad step. `state` counts the bad steps before it. The same on all ranks.
BadStepAnswer answer_bad_step(const TrainParams& train, const io::TrainingState& state);

/// Whether the n-th bad step that is skipped, counted from 1, is reported: the first four, then each whose number is a
/// power of two. A report costs a forward pass, and many of them hide other messages.
bool is_reported(std::int64_t n);

class BadSteps {
 public:
  /// All references outlive the BadSteps object.
  struct Spec {
    const Parameters& params;
    const TrainingSamples& samples;
    RankRuntime& runtime;
    const LearningRateSpec& rates;
  };

  explicit BadSteps(const Spec& spec) : spec_(spec) {}

  /// Whether this run may go back to a checkpoint after a bad step.
  bool may_go_back() const;

  /// All ranks, after each step. `state` is the state after the step; `record` is rank 0's, and has the step's row.
  /// Counts a bad step that is skipped, and warns of it. Returns true if training must go back. Throws Error if a bad
  /// step ends the run: the message says where the numbers went wrong, and how to continue.
  bool must_go_back(StepOutcome outcome, io::TrainingState& state, const RunRecord* record) const;

  /// All ranks: restores parameters and the optimizer's state from the newest checkpoint that is known to be good, and
  /// returns its state, with the learning rate's new factor. The same samples come again in the same order, on every
  /// grid and after a restart, since a step's samples follow from its number alone. Throws Error if there is no such
  /// checkpoint.
  io::TrainingState go_back(const io::TrainingState& now, RunRecord* record) const;

  /// All ranks, after the checkpoint of `state` was saved again: removes the checkpoints that were saved after it, up
  /// to the bad step `last`. Otherwise a restart would continue with them.
  void remove_later_checkpoints(const io::TrainingState& state, std::int64_t last) const;

 private:
  std::string describe(const io::TrainingState& state) const;
  std::string describe_stop(const io::TrainingState& state, const RunRecord& record) const;

  Spec spec_;
};

}  // namespace convoy
