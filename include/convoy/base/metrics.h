/// The list of metrics by which a network is measured, each under one name in keys, tables, logs and checkpoints.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace convoy {

/// The number of largest logits among which top-5 accuracy looks for the label.
inline constexpr std::int64_t kNumGuesses = 5;

/// Counts of samples of one class over an evaluation.
struct ClassCounts {
  std::int64_t num_samples = 0;    ///< number of samples with this label
  std::int64_t num_predicted = 0;  ///< number of samples predicted as this class
  std::int64_t num_correct = 0;    ///< number of samples with this label that were predicted as this class

  bool operator==(const ClassCounts&) const = default;
};

/// The counts that a metric is computed from, over all samples that have a label.
struct MetricCounts {
  double loss = 0;  ///< mean loss over the labels
  std::int64_t num_correct = 0, num_labels = 0;
  std::int64_t num_among_five = 0;  ///< number of labels that are among the kNumGuesses largest logits of their sample
  std::span<const ClassCounts> classes = {};  ///< counts of each class; empty if classes were not counted
};

enum class MetricKind { kLoss, kTop1, kTop5, kBalancedAccuracy, kMacroF1 };

struct Metric {
  MetricKind kind = MetricKind::kTop1;
  const char* name = "";      ///< name in train.metric and in column names such as val_macro_f1
  const char* synonyms = "";  ///< other usual names, lower case, separated by blanks: a message then suggests `name`
  const char* title = "";     ///< name in sentences and tables: "macro F1"
  bool is_share = false;      ///< whether the value is in [0, 1] and shown in percent
  bool higher_is_better = true;
  /// The smallest number of classes for which the metric exists. 0: it exists for every network and each of its
  /// objectives, also without classes, and is also computed over training steps.
  std::int64_t min_classes = 0;
  double (*compute)(const MetricCounts&) = nullptr;

  bool exists_for(std::int64_t num_classes) const { return num_classes >= min_classes; }
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
/// has zero_division.
double macro_f1(const MetricCounts& counts);
}  // namespace metrics

/// The list of all metrics. A new one needs a row in this list, a function in convoy::metrics and a MetricKind.
inline constexpr Metric kMetrics[] = {
    {.kind = MetricKind::kLoss, .name = "loss", .title = "loss", .higher_is_better = false, .compute = metrics::loss},
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
     .min_classes = kNumGuesses + 1,
     .compute = metrics::top5},
    {.kind = MetricKind::kBalancedAccuracy,
     .name = "balanced_accuracy",
     .synonyms = "balanced recall uar",
     .title = "balanced accuracy",
     .is_share = true,
     .min_classes = 1,
     .compute = metrics::balanced_accuracy},
    {.kind = MetricKind::kMacroF1,
     .name = "macro_f1",
     .synonyms = "f1 f1_macro f1-macro",
     .title = "macro F1",
     .min_classes = 1,
     .compute = metrics::macro_f1},
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

/// Returns the names of the metrics that exist for a network with `num_classes` classes: "loss, top1". 0: a network
/// that does not predict classes.
std::string metric_names(std::int64_t num_classes);
/// Returns the reason why the metric does not exist for a network with `num_classes` classes: "it needs 6 classes or
/// more, and there are 2".
std::string why_absent(const Metric& metric, std::int64_t num_classes);

}  // namespace convoy
