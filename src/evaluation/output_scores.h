/// Measures a network by its outputs for all samples of a data set, which rank 0 receives in the order of the samples.
/// So the results do not depend on the layout.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "convoy/base/target.h"
#include "convoy/io/sample_store.h"

#include "evaluation/logits.h"
#include "step/metrics.h"

namespace convoy {

/// Returns the number that output k of a network means, in the user's units: y * stddev + mean, computed in double
/// and rounded to float32.
float number_of(const Target& target, std::size_t k, float y);

/// Returns the probability of a label: 1 / (1 + exp(-y)), computed in double. NaN if y is NaN.
double label_probability(float y);

/// Returns the average precision of one label, as scikit-learn's average_precision_score: the sum over all thresholds,
/// from high to low, of the precision times the increase of recall. Arguments are the outputs for samples with the
/// label and without it; they are sorted. NaN if no sample has the label. No output may be NaN.
double average_precision(std::vector<float>& with, std::vector<float>& without);

/// Largest number of outputs that are kept in memory for average precisions: 1 GiB.
inline constexpr std::int64_t kMaxKeptOutputs = std::int64_t{1} << 28;
/// Returns a sentence if average precisions are not computed, because there would be too many outputs in memory; empty
/// if they are, or if the network does not predict labels. `key` names the samples: "data.val".
std::string why_no_average_precision(const io::DatasetInfo& data, const std::string& key);

/// What an evaluation learns from the outputs of a network.
class OutputScores {
 public:
  virtual ~OutputScores() = default;

  /// Adds a sample. `outputs` (K) are what the network gives: a logit of each class or label, or numbers in units of
  /// their standard deviation; of a field at each pixel.
  virtual void add(std::int64_t sample, std::span<const float> outputs) = 0;
  /// Writes the scores of all samples to `total`. Called once, after the last sample.
  virtual void write_to(StepMetrics& total) = 0;
};

/// The scores of a network that predicts classes: counts of each class, and top-5.
class ClassScores final : public OutputScores {
 public:
  /// If `are_log_probabilities`, outputs are logarithms of probabilities, and give the losses, too. `confusion` also
  /// counts predictions; null: not counted. `samples` and `confusion` must outlive this object.
  ClassScores(const io::SampleStore& samples, bool are_log_probabilities, Confusion* confusion);

  void add(std::int64_t sample, std::span<const float> outputs) override;
  /// Adds a sample by the classes of its largest logits.
  void add(std::int64_t sample, const Guesses& guesses);
  void write_to(StepMetrics& total) override;

 private:
  ClassCounts& class_of(std::int32_t label) { return counts_.classes[static_cast<std::size_t>(label)]; }

  const io::SampleStore& samples_;
  bool are_log_probabilities_;
  Confusion* confusion_;
  StepMetrics counts_;
};

/// The scores of a network that predicts which of several labels a sample has: counts of each label, which is predicted
/// if its probability is above 1/2, and average precisions.
class LabelScores final : public OutputScores {
 public:
  /// `samples` must outlive this object.
  explicit LabelScores(const io::SampleStore& samples);

  void add(std::int64_t sample, std::span<const float> outputs) override;
  void write_to(StepMetrics& total) override;

 private:
  /// The outputs of one label.
  struct Outputs {
    std::vector<float> with, without;  ///< of the samples with the label, and without it
    bool has_nan = false;
  };

  const io::SampleStore& samples_;
  std::vector<float> targets_;  ///< (K) targets of a sample
  std::vector<ClassCounts> counts_;
  std::vector<Outputs> outputs_;  ///< by label; empty if there are too many outputs
};

/// The scores of a network that predicts numbers: their errors, in the users' units.
class NumberScores final : public OutputScores {
 public:
  /// `target` has the mean and standard deviation that the network was trained with. Both arguments must outlive this
  /// object.
  NumberScores(const io::SampleStore& samples, const Target& target);

  void add(std::int64_t sample, std::span<const float> outputs) override;
  void write_to(StepMetrics& total) override;

 private:
  const io::SampleStore& samples_;
  const Target& target_;
  std::vector<TargetSums> sums_;  ///< (K)
  std::vector<float> targets_;    ///< (K) targets of a sample, of a field at each pixel
};

}  // namespace convoy
