/// Computes predictions from logits (probabilities, classes, the mean of two views) and, if samples have labels,
/// results by class (confusion matrix, accuracies).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "convoy/base/metrics.h"
#include "convoy/ops/softmax_cross_entropy.h"

namespace convoy {

/// Returns the `count` classes with the largest logits, the largest first; of equal logits, the lower class first. No
/// logit may be NaN.
std::vector<std::int64_t> best_classes(std::span<const float> logits, std::int64_t count);

/// Returns softmax(logits), computed in double as exp(z_k - max z) / sum. NaN if a logit is NaN.
std::vector<double> probabilities(std::span<const float> logits);

/// Returns logits of the mean probabilities of two views, log((softmax(plain) + softmax(mirrored)) / 2), for each row
/// of (count, classes). Computed in double; a mean of 0 counts as the smallest normal double. A row with a logit that
/// is NaN becomes NaN.
std::vector<float> mean_of_views(std::span<const float> plain, std::span<const float> mirrored,
                                 std::int64_t num_classes);

/// Returns the loss of one sample, and whether its prediction is right, from the logarithms of its probabilities. The
/// prediction is the first of the largest ones, as in ops::LossSums. `label` is a class, not kNoLabel.
ops::LossSums score(std::span<const float> log_probabilities, std::int64_t label);

/// The kNumGuesses classes with the largest logits of a sample, the largest first; kNoLabel if there are fewer classes.
using Guesses = std::array<std::int32_t, kNumGuesses>;
/// Returns the classes with the largest logits; of equal logits, the lower class first. If a logit is NaN, returns
/// classes in some order.
Guesses best_five(std::span<const float> logits);

/// The confusion matrix: number of samples by true class and predicted class.
class Confusion {
 public:
  explicit Confusion(std::int64_t num_classes) : num_classes_(num_classes) {}

  /// Adds one sample.
  void add(std::int64_t label, std::int64_t predicted) { ++counts_[{label, predicted}]; }
  /// Number of samples of the class `label` that were predicted as `predicted`.
  std::int64_t count(std::int64_t label, std::int64_t predicted) const;

  /// The matrix as CSV: a row for each true class, a column for each predicted class.
  std::string table(const std::vector<std::string>& class_names) const;

 private:
  std::int64_t num_classes_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t>
      counts_;  ///< by (true class, predicted class); a missing one is 0
};

/// Returns CSV with a row for each class: its number of samples, how many of them were predicted right, recall,
/// precision and F1; of several labels that a sample may have, also the average precisions, which are empty for
/// classes. A value is empty if its divisor is 0.
std::string class_table(const std::vector<ClassCounts>& classes, const std::vector<double>& average_precisions,
                        const std::vector<std::string>& class_names);

/// Returns CSV with a row for each number that is predicted: its number of samples, RMSE, MAE and R2. A value is empty
/// if it does not exist.
std::string number_table(const std::vector<TargetSums>& numbers, const std::vector<std::string>& names);

}  // namespace convoy
