/// What a training does about a step whose loss or gradients are not finite numbers: train.on_bad_step. The step itself
/// was not applied, on any rank (StepOutcome::kBad).
#pragma once

#include <cstdint>
#include <string>

#include "convoy/io/checkpoint.h"
#include "convoy/params/parameters.h"

#include "run/run_record.h"
#include "run/training_samples.h"
#include "step/rank_runtime.h"
#include "update/learning_rate.h"

namespace convoy {

enum class BadStepAnswer { kStop, kSkip, kGoBack };

/// To one more bad step: `state` tells of those before. The same on all ranks.
BadStepAnswer answer_bad_step(const TrainParams& train, const io::TrainingState& state);

/// Whether the n-th bad step that is skipped, counted from 1, is reported: the first four, then each whose number is a
/// power of two. A report costs a forward, and many hide what else is said.
bool is_reported(std::int64_t n);

class BadSteps {
 public:
  /// All outlive it.
  struct Spec {
    const Parameters& params;
    const TrainingSamples& samples;
    RankRuntime& runtime;
    const LearningRateSpec& rates;
  };

  explicit BadSteps(const Spec& spec) : spec_(spec) {}

  /// Whether checkpoints are what this run may go back to.
  bool may_go_back() const { return spec_.params.train.on_bad_step == BadStepKind::kRollback; }

  /// All ranks, after each step; `state` is that after it, and `record` is rank 0's, which has the step's row. Counts a
  /// bad step that is skipped and warns of it; returns true where training must go back. Throws Error where a bad step
  /// ends the run; the message says where the numbers went wrong, and how to continue.
  bool must_go_back(StepOutcome outcome, io::TrainingState& state, const RunRecord* record) const;

  /// All ranks: restores parameters and the optimizer's state from the newest checkpoint that is known to be good, and
  /// returns its state, with the learning rate's new factor. The same samples come again in the same order, since a
  /// step's samples follow from its number alone: on every grid, and after a restart. Throws Error where there is no
  /// such checkpoint.
  io::TrainingState go_back(const io::TrainingState& now, RunRecord* record) const;

  /// All ranks, once the checkpoint of `state` was saved again: removes those that were saved after it, up to the bad
  /// step `last`. A restart would continue with them.
  void remove_later_checkpoints(const io::TrainingState& state, std::int64_t last) const;

 private:
  std::string describe(const io::TrainingState& state) const;
  std::string describe_stop(const io::TrainingState& state, const RunRecord& record) const;

  Spec spec_;
};

}  // namespace convoy
