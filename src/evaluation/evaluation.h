/// Scores a data set with the current parameters.
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
#include "step/metrics.h"
#include "step/rank_runtime.h"

namespace convoy {

struct BadSample;
struct Parameters;

/// The logits that a step computed of `count` samples, from `first_sample` on.
struct StepLogits {
  std::int64_t first_sample = 0;
  std::span<const float> logits;  ///< (count, classes)
  std::span<const std::uint8_t>
      bad;  ///< (count): 1 for a sample whose image could not be read; empty if that is an error
};

/// A function that rank 0 calls with the logits of all samples, each once, in order.
using LogitsObserver = std::function<void(const StepLogits& step)>;

struct EvaluationSpec {
  const io::SampleStore& samples;
  const io::ModelMetadata& metadata;  ///< of the runtime's network; labels of other classes do not count
  const Parameters& params;
  std::string work;                                   ///< name of the work in rank 0's progress line
  std::function<bool()> stop = [] { return false; };  ///< asked between steps; must give the same answer on all ranks
  LogitsObserver observe = {};                        ///< set on all ranks or on none; only rank 0 calls it
  Confusion* confusion = nullptr;         ///< takes each sample's class and prediction; only rank 0 fills it
  std::vector<BadSample>* bad = nullptr;  ///< takes the bad images that this rank meets; null: one ends the run

  bool labels_count() const;       ///< whether the data's classes are the metadata's
  std::int64_t num_steps() const;  ///< number of steps that go over all samples once
};

/// Evaluates the data set; all ranks call it, and rank 0 gets the result. Samples come in order, without augmentation;
/// the last micro-batches are filled up with samples that do not count. With params.evaluate.mirror each step is made
/// twice, of images and of their mirror images, and `logits` are those of the mean probabilities. Predictions are
/// counted by class if the network gives logits and labels_count(). Returns nothing if `stop` returned true.
std::optional<StepMetrics> evaluate_dataset(RankRuntime& runtime, const EvaluationSpec& spec);

}  // namespace convoy
