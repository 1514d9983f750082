/// What logits say of samples (probabilities, classes, the mean of two views) and, where these have labels, of each
/// class (confusion, accuracies, top-5).
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "step/metrics.h"

namespace convoy {

/// The `count` classes of the largest logits, the largest first; the first among equals. No logit is a NaN.
std::vector<std::int64_t> best_classes(std::span<const float> logits, std::int64_t count);

/// softmax(logits): exp(z_k - max z) / sum, in double. NaN where one is not a number.
std::vector<double> probabilities(std::span<const float> logits);

/// log((softmax(plain) + softmax(mirrored)) / 2), row by row (count, classes): logits of the mean probabilities. In
/// double; what is 0 in it counts as its least normal number. NaN where a row has a logit that is not a number.
std::vector<float> mean_of_views(std::span<const float> plain, std::span<const float> mirrored,
                                 std::int64_t num_classes);

/// The loss and the hit of one sample by logits whose probabilities sum to 1; the first among equals counts, as in
/// ops::LossSums. `label` is a class.
ops::LossSums score(std::span<const float> log_probabilities, std::int64_t label);

class ClassScores {
 public:
  /// How many guesses top-5 allows.
  static constexpr std::int64_t kGuesses = 5;

  explicit ClassScores(std::int64_t num_classes) : num_classes_(num_classes) {}

  /// One sample. Equal logits count in the order of the classes, as in ops::LossSums.
  void add(std::int64_t label, std::span<const float> logits);

  /// Samples of the class `label` that were taken for `predicted`.
  std::int64_t count(std::int64_t label, std::int64_t predicted) const;
  double top5() const { return static_cast<double>(num_among_best_) / static_cast<double>(num_samples_); }
  /// The mean over the classes that have samples of the share that was right: scikit-learn's balanced_accuracy_score.
  double balanced_accuracy() const;
  /// The mean of F1 = 2 TP / (2 TP + FP + FN) over the classes that have samples or were predicted: scikit-learn's
  /// f1_score with average = macro.
  double macro_f1() const;

  /// CSV: a row for each true class, a column for each predicted one, numbers of samples.
  std::string confusion_table(const std::vector<std::string>& class_names) const;
  /// CSV: for each class its samples, those that were right, their share (recall), the share of what was taken for it
  /// that was right (precision), and F1; a share is empty where there is nothing to share.
  std::string class_table(const std::vector<std::string>& class_names) const;

 private:
  struct Totals {
    std::int64_t num_samples = 0, num_predicted = 0, num_correct = 0;
  };
  /// Of each class.
  std::vector<Totals> totals() const;

  std::int64_t num_classes_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> counts_;  ///< of (true, predicted); few are not 0
  std::int64_t num_samples_ = 0, num_among_best_ = 0;
};

}  // namespace convoy
