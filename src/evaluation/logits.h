/// What logits say of samples (probabilities, classes, the mean of two views) and, if samples have labels, of each
/// class (confusion, accuracies).
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

/// The `count` classes of the largest logits, the largest first; the first among equals. No logit is a NaN.
std::vector<std::int64_t> best_classes(std::span<const float> logits, std::int64_t count);

/// Returns softmax(logits), exp(z_k - max z) / sum, in double. NaN if a logit is not a number.
std::vector<double> probabilities(std::span<const float> logits);

/// Returns the logits of the mean probabilities, log((softmax(plain) + softmax(mirrored)) / 2), for each row of (count,
/// classes). Computed in double; a mean of 0 counts as the smallest normal number of double. NaN in rows with a logit
/// that is not a number.
std::vector<float> mean_of_views(std::span<const float> plain, std::span<const float> mirrored,
                                 std::int64_t num_classes);

/// The loss and the hit of one sample by logits whose probabilities sum to 1; the first among equals counts, as in
/// ops::LossSums. `label` is a class.
ops::LossSums score(std::span<const float> log_probabilities, std::int64_t label);

/// The classes of the kNumGuesses largest logits, the largest first, the first among equals; kNoLabel if there are
/// fewer classes. A row with a logit that is not a number gives classes, too, in some order.
using Guesses = std::array<std::int32_t, kNumGuesses>;
Guesses best_five(std::span<const float> logits);

/// Numbers of samples by true class and by predicted class.
class Confusion {
 public:
  explicit Confusion(std::int64_t num_classes) : num_classes_(num_classes) {}

  /// Adds one sample.
  void add(std::int64_t label, std::int64_t predicted) { ++counts_[{label, predicted}]; }
  /// Number of samples of the class `label` that were predicted as `predicted`.
  std::int64_t count(std::int64_t label, std::int64_t predicted) const;

  /// CSV: a row for each true class, a column for each predicted one, numbers of samples.
  std::string table(const std::vector<std::string>& class_names) const;

 private:
  std::int64_t num_classes_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> counts_;  ///< of (true, predicted); few are not 0
};

/// CSV: for each class its samples, those that were right, their share (recall), the share of what was taken for it
/// that was right (precision), and F1; a share is empty where there is nothing to share.
std::string class_table(const std::vector<ClassCounts>& classes, const std::vector<std::string>& class_names);

}  // namespace convoy
