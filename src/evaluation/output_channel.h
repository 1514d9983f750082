/// Brings the outputs of a network for all samples of an evaluation to rank 0, in the order of the samples.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "convoy/data/loader.h"
#include "convoy/params/step_parameters.h"

#include "evaluation/evaluation.h"
#include "evaluation/output_scores.h"
#include "step/evaluation_step.h"
#include "step/step_channel.h"

namespace convoy {

/// Throws RequestError, with values that fit, if the outputs for a step's micro-batches of one replica are too large
/// for a message. `replicas` is the number of replicas, `sample_bytes` the size of the outputs for a sample.
void check_output_message(const BatchParams& batch, std::int64_t replicas, std::int64_t micro_batches,
                          std::int64_t sample_bytes);

/// The outputs travel pass after pass: a step has one pass, or two with test-time augmentation. They are all outputs of
/// each sample or, if no one needs more, the classes of its largest logits.
class OutputChannel {
 public:
  /// All ranks of the grid call it, before the first step. Throws RequestError if the outputs of a replica's step are
  /// too large for a message. `evaluation` and `spec` must outlive this object.
  OutputChannel(EvaluationStep& evaluation, const EvaluationSpec& spec);

  /// Starts to send the outputs of the latest step. All ranks of the grid call it after each pass.
  void post(const Loader& loader);
  /// Called on rank 0: takes the outputs of the oldest pass that is not collected. With test-time augmentation the
  /// plain pass waits for the mirrored one; the result of both is then observed and scored.
  void collect();
  /// Waits until all posted messages are complete. Called before this object is destroyed.
  void finish();
  /// Called on rank 0 after the last pass: writes the scores of all samples to `total`.
  void write_scores_to(StepMetrics& total);

 private:
  const std::vector<Guesses>& guess_all(std::span<const float> logits);
  void collect_outputs(StepOutputs& step);
  void score(const StepOutputs& step);
  std::span<const float> row(std::span<const float> outputs, std::size_t i) const;

  EvaluationStep& evaluation_;
  const EvaluationSpec& spec_;
  std::int64_t num_outputs_;  ///< per sample
  bool sends_outputs_;
  StepChannel channel_;
  std::optional<StepChannel> bad_;
  std::unique_ptr<OutputScores> scores_;  ///< null if the targets of the samples do not count
  ClassScores* class_scores_ = nullptr;   ///< scores_ if the outputs stay where they are, and classes travel; or null
  std::int64_t first_sample_ = 0;         ///< first sample of the next step
  std::vector<Guesses> guesses_;          ///< guesses of a step's samples
  std::vector<float> plain_, both_;
};

}  // namespace convoy
