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

/// The logits of the samples [first_sample, first_sample + count) of a data set, which a step has computed.
struct StepLogits {
  std::int64_t first_sample = 0;
  std::span<const float> logits;  ///< (count, classes), in host memory
  /// (count): 1 for a sample whose image could not be read, and whose logits mean nothing; empty if that is an error.
  std::span<const std::uint8_t> bad;
};

/// The arguments of evaluate_dataset().
struct EvaluationSpec {
  const io::SampleStore& samples;
  const io::ModelMetadata& metadata;  ///< metadata of the runtime's network
  const Parameters& params;
  std::string work;  ///< name of the work in rank 0's progress line
  /// Returns whether to stop, between steps; must return the same on all ranks.
  std::function<bool()> stop = [] { return false; };
  /// Called on rank 0 with the logits of all samples, each sample once, in their order. Set on all ranks or on none;
  /// empty: no logits are needed.
  std::function<void(const StepLogits& step)> observe = {};
  /// Counts the class and the prediction of each sample; only rank 0 fills it; null: not counted.
  Confusion* confusion = nullptr;
  /// Receives the unreadable images of this rank; null: one ends the run with an error.
  std::vector<BadSample>* bad = nullptr;

  /// Whether the data set has the network's classes; otherwise its labels are ignored.
  bool labels_count() const;
  /// Number of steps that go over all samples once.
  std::int64_t num_steps() const;
};

/// Evaluates the network on the data set. All ranks of the grid call it; only rank 0 gets the metrics. Samples come in
/// order, without augmentation; the last micro-batches are filled up with padding samples, which do not count. With
/// params.evaluate.mirror each step runs twice, on images and on their mirror images, and the logits are those of the
/// mean probabilities. If the network gives logits and labels_count(), predictions are also counted by class. Returns
/// nothing if `stop` has returned true.
std::optional<StepMetrics> evaluate_dataset(EvaluationStep& evaluation, const EvaluationSpec& spec);

}  // namespace convoy
