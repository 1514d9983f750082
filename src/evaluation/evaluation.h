/// Measures a network on a data set with its current parameters.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "convoy/io/model_metadata.h"
#include "convoy/io/sample_store.h"

#include "evaluation/logits.h"
#include "step/evaluation_step.h"
#include "step/metrics.h"

namespace convoy {

struct BadSample;
struct Parameters;

/// The outputs for the samples [first_sample, first_sample + count) of a data set, which a step has computed.
struct StepOutputs {
  std::int64_t first_sample = 0;
  /// (count, K) logits of classes or labels, or numbers in units of their standard deviation, in host memory. Of a
  /// field (count, D, H, W, K).
  std::span<const float> outputs;
  /// (count): 1 for a sample that could not be read, and whose outputs mean nothing; empty if that is an error.
  std::span<const std::uint8_t> bad;

  bool is_bad(std::size_t i) const { return !bad.empty() && bad[i] != 0; }
};

/// The arguments of evaluate_dataset().
struct EvaluationSpec {
  const io::SampleStore& samples;
  const io::ModelMetadata& metadata;  ///< metadata of the runtime's network
  const Parameters& params;
  std::string work;  ///< name of the work in rank 0's progress line; empty: no line is shown
  /// Returns whether to stop, between steps; must return the same on all ranks.
  std::function<bool()> stop = [] { return false; };
  /// Called on rank 0 with the outputs for all samples, each sample once, in their order. Set on all ranks or on none;
  /// empty: no outputs are needed.
  std::function<void(const StepOutputs& step)> observe = {};
  /// Counts the class and the prediction of each sample; only rank 0 fills it; null: not counted.
  Confusion* confusion = nullptr;
  /// Receives the unreadable samples of this rank; null: one ends the run with an error.
  std::vector<BadSample>* bad = nullptr;

  /// Whether the data set has the network's classes, labels or numbers, at the same pixels; otherwise its targets are
  /// ignored.
  bool targets_count() const;
  /// Number of steps that go over all samples once.
  std::int64_t num_steps() const;
};

/// Evaluates the network on the data set. All ranks of the grid call it; only rank 0 gets the metrics. Samples come in
/// order, without augmentation; the last micro-batches are filled up with padding samples, which do not count. With
/// params.evaluate.mirror each step runs twice, on images and on their mirror images, and the logits are those of the
/// mean probabilities. If the network gives outputs and targets_count(), the outputs are also compared with the targets
/// (OutputScores). Returns nothing if `stop` has returned true.
std::optional<StepMetrics> evaluate_dataset(EvaluationStep& evaluation, const EvaluationSpec& spec);

}  // namespace convoy
