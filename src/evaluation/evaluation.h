/// Scores a data set with the current parameters.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "convoy/data/loader.h"
#include "convoy/params/parameters.h"

#include "checkpoint/model_metadata.h"
#include "evaluation/logits.h"
#include "step/metrics.h"
#include "step/rank_runtime.h"

namespace convoy {

/// What a step made of so many samples from `first_sample` on.
struct StepLogits {
  std::int64_t first_sample = 0;
  std::span<const float> logits;      ///< (count, classes)
  std::span<const std::uint8_t> bad;  ///< (count): 1 where there was no image to look at; empty where that is an error
};

/// Rank 0 is given all samples once, in order.
using LogitsObserver = std::function<void(const StepLogits& step)>;

struct EvaluationSpec {
  const io::SampleStore& samples;
  const io::ModelMetadata& metadata;  ///< of the runtime's network; labels of other classes count for nothing
  const Parameters& params;
  std::string work;                                   ///< how rank 0's progress line calls it
  std::function<bool()> stop = [] { return false; };  ///< asked between steps; all ranks give one answer
  LogitsObserver observe = {};                        ///< on all ranks or on none; only rank 0 calls it
  Confusion* confusion = nullptr;         ///< takes each sample's class and prediction; only rank 0 fills it
  std::vector<BadSample>* bad = nullptr;  ///< takes the bad images that this rank meets; null: one ends the run

  bool labels_count() const;       ///< the data's classes are the metadata's
  std::int64_t num_steps() const;  ///< over all samples once
};

/// All ranks; the result is rank 0's. Samples in order, only brought to the network's input; the last micro-batches are
/// filled up with samples that count for nothing. With params.evaluate.mirror each step is made twice, of pictures and
/// of mirror images, and `logits` are those of the mean probabilities. Predictions are counted by class where the
/// network gives logits and labels_count(). Nothing where `stop` said so.
std::optional<StepMetrics> evaluate_dataset(RankRuntime& runtime, const EvaluationSpec& spec);

}  // namespace convoy
