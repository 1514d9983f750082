/// The list of metrics by which a network is measured, each under one name in keys, tables, logs and checkpoints.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "convoy/base/target.h"

namespace convoy {

/// The number of largest logits among which top-5 accuracy looks for the label.
inline constexpr std::int64_t kNumGuesses = 5;

/// Counts of samples of one class over an evaluation, or of one of several labels that a sample may have.
struct ClassCounts {
  std::int64_t num_samples = 0;    ///< number of samples with this label
  std::int64_t num_predicted = 0;  ///< number of samples predicted as this class, or to have this label
  std::int64_t num_correct = 0;    ///< number of samples with this label that were predicted as this class

  bool operator==(const ClassCounts&) const = default;
};

/// Sums over an evaluation for one number that a network predicts, of the samples whose number is known.
struct TargetSums {
  std::int64_t count = 0;
  double squares = 0;     ///< sum of (predicted - true)^2
  double magnitudes = 0;  ///< sum of |predicted - true|
  double mean = 0;        ///< mean of the true numbers
  double deviations = 0;  ///< sum of (true - mean)^2; exactly 0 if all true numbers are equal

  /// Adds a sample.
  void add(double predicted, double target);
  bool operator==(const TargetSums&) const = default;
};

/// The counts that a metric is computed from, over all samples that have a label.
struct MetricCounts {
  double loss = 0;  ///< mean loss over the labels
  std::int64_t num_correct = 0, num_labels = 0;
  std::int64_t num_among_five = 0;  ///< number of labels that are among the kNumGuesses largest logits of their sample
  std::span<const ClassCounts> classes = {};  ///< counts of each class or label; empty if they were not counted
  /// Average precision of each label; NaN for a label that no sample has. Empty if it was not computed.
  std::span<const double> average_precisions = {};
  std::span<const TargetSums> targets = {};  ///< sums of each number; empty if the network predicts none
};

enum class MetricKind {
  kLoss,
  kTop1,
  kTop5,
  kBalancedAccuracy,
  kMacroF1,
  kMeanAveragePrecision,
  kRmse,
  kMae,
  kR2,
};

/// A set of kinds of targets, for Metric::targets.
constexpr unsigned only(TargetKind kind) {
  return 1U << static_cast<unsigned>(kind);
}

struct Metric {
  MetricKind kind = MetricKind::kTop1;
  const char* name = "";      ///< name in train.metric and in column names such as val_macro_f1
  const char* synonyms = "";  ///< other usual names, lower case, separated by blanks: a message then suggests `name`
  const char* title = "";     ///< name in sentences and tables: "macro F1"
  bool is_share = false;      ///< whether the value is in [0, 1] and shown in percent
  bool has_unit = false;      ///< whether the value has the unit of the numbers that are predicted, and any size
  bool higher_is_better = true;
  unsigned targets = only(TargetKind::kClass);  ///< kinds of targets that the metric measures
  /// The smallest number of classes, labels or numbers for which the metric exists. 0: it exists for every network and
  /// each of its objectives, also without outputs, and is also computed over training steps.
  std::int64_t min_outputs = 0;
  double (*compute)(const MetricCounts&) = nullptr;

  bool measures(TargetKind target) const { return (targets & only(target)) != 0; }
  /// Whether the metric exists for a network with targets of this kind. `num_outputs` is its number of outputs
  /// (classes, labels or numbers); 0: it computes its losses itself.
  bool exists_for(TargetKind target, std::int64_t num_outputs) const {
    return measures(target) && num_outputs >= min_outputs;
  }
  bool is_better(double value, double than) const { return higher_is_better ? value > than : value < than; }
  /// Returns the value as text: "88.20 %", "0.3021".
  std::string shown(double value) const;
};

namespace metrics {
double loss(const MetricCounts& counts);
/// The share of the labels that have the largest logit of their sample or token.
double top1(const MetricCounts& counts);
/// The share of the labels that are among the kNumGuesses largest logits of their sample or token.
double top5(const MetricCounts& counts);
/// The mean, over the classes that have samples, of the share of the class's samples that were predicted right:
/// scikit-learn's balanced_accuracy_score.
double balanced_accuracy(const MetricCounts& counts);
/// The mean of F1 = 2 TP / (2 TP + FP + FN) over the classes that have samples or were predicted: scikit-learn's
/// f1_score with average = 'macro'. A class that was predicted but has no sample counts as 0, and so does one that has
/// samples but was never predicted; a class without either does not count. So no F1 is 0 / 0, for which scikit-learn
/// has zero_division. Several labels: the mean over the labels, with the same rule.
double macro_f1(const MetricCounts& counts);
/// The mean of the average precisions of the labels that some sample has: the mean of scikit-learn's
/// average_precision_score over these labels.
double mean_average_precision(const MetricCounts& counts);
/// The mean, over the numbers that are predicted, of sqrt(mean (predicted - true)^2), in their units: scikit-learn's
/// root_mean_squared_error. Numbers of which no sample is known do not count.
double rmse(const MetricCounts& counts);
/// The mean, over the numbers that are predicted, of mean |predicted - true|: scikit-learn's mean_absolute_error.
double mae(const MetricCounts& counts);
/// The mean, over the numbers that are predicted, of 1 - sum (predicted - true)^2 / sum (true - mean)^2: scikit-learn's
/// r2_score. Numbers that are the same for all samples do not count.
double r2(const MetricCounts& counts);
}  // namespace metrics

/// The list of all metrics. A new one needs a row in this list, a function in convoy::metrics and a MetricKind.
inline constexpr Metric kMetrics[] = {
    {.kind = MetricKind::kLoss,
     .name = "loss",
     .title = "loss",
     .higher_is_better = false,
     .targets = only(TargetKind::kClass) | only(TargetKind::kLabels) | only(TargetKind::kNumbers),
     .compute = metrics::loss},
    {.kind = MetricKind::kTop1,
     .name = "top1",
     .synonyms = "top-1 accuracy acc",
     .title = "top-1",
     .is_share = true,
     .compute = metrics::top1},
    {.kind = MetricKind::kTop5,
     .name = "top5",
     .synonyms = "top-5",
     .title = "top-5",
     .is_share = true,
     .min_outputs = kNumGuesses + 1,
     .compute = metrics::top5},
    {.kind = MetricKind::kBalancedAccuracy,
     .name = "balanced_accuracy",
     .synonyms = "balanced recall uar",
     .title = "balanced accuracy",
     .is_share = true,
     .min_outputs = 1,
     .compute = metrics::balanced_accuracy},
    {.kind = MetricKind::kMacroF1,
     .name = "macro_f1",
     .synonyms = "f1 f1_macro f1-macro",
     .title = "macro F1",
     .targets = only(TargetKind::kClass) | only(TargetKind::kLabels),
     .min_outputs = 1,
     .compute = metrics::macro_f1},
    {.kind = MetricKind::kMeanAveragePrecision,
     .name = "mean_average_precision",
     .synonyms = "map mean_ap average_precision",
     .title = "mean average precision",
     .targets = only(TargetKind::kLabels),
     .min_outputs = 1,
     .compute = metrics::mean_average_precision},
    {.kind = MetricKind::kRmse,
     .name = "rmse",
     .synonyms = "root_mean_squared_error",
     .title = "RMSE",
     .has_unit = true,
     .higher_is_better = false,
     .targets = only(TargetKind::kNumbers),
     .min_outputs = 1,
     .compute = metrics::rmse},
    {.kind = MetricKind::kMae,
     .name = "mae",
     .synonyms = "mean_absolute_error",
     .title = "MAE",
     .has_unit = true,
     .higher_is_better = false,
     .targets = only(TargetKind::kNumbers),
     .min_outputs = 1,
     .compute = metrics::mae},
    {.kind = MetricKind::kR2,
     .name = "r2",
     .synonyms = "r2_score r^2 r_squared",
     .title = "R2",
     .targets = only(TargetKind::kNumbers),
     .min_outputs = 1,
     .compute = metrics::r2},
};

const Metric& metric(MetricKind kind);
/// Returns the metric of a name or a column of a log: "macro_f1", "val_macro_f1", "test_masked_words_top1". Null if
/// there is no such metric.
const Metric* find_metric(std::string_view column);
/// Returns the title of a log's column: "val macro F1" for val_macro_f1. A column of no metric keeps its name.
std::string metric_title(std::string_view column);
/// Returns a column's title and a value: "macro F1 0.8123". If no metric belongs to the column, its name and the plain
/// number.
std::string named_value(std::string_view column, double value);

/// The metrics that decide about the best checkpoint unless train.metric names another: the first that exists.
inline constexpr MetricKind kUsualMetrics[] = {MetricKind::kTop1, MetricKind::kMeanAveragePrecision, MetricKind::kRmse,
                                               MetricKind::kLoss};
/// Returns the first of kUsualMetrics that exists for a network: top-1 for classes, mean average precision for labels,
/// RMSE for numbers; the loss if the network computes it itself from labels or numbers.
/// `num_outputs`: as in Metric::exists_for().
MetricKind default_metric(TargetKind kind, std::int64_t num_outputs);
/// Returns the names of the metrics that exist for a network: "loss, top1". The arguments are those of
/// Metric::exists_for().
std::string metric_names(TargetKind kind, std::int64_t num_outputs);
/// Returns the reason why the metric does not exist for a network: "it needs at least 6 classes, and the data has 2".
/// The arguments are those of Metric::exists_for().
std::string why_absent(const Metric& metric, TargetKind kind, std::int64_t num_outputs);

}  // namespace convoy
