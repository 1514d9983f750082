/// The list of metrics by which a network is measured, each under one name in keys, tables, logs and checkpoints.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace convoy {

/// The number of predictions per sample that top-5 accepts.
inline constexpr std::int64_t kNumGuesses = 5;

/// Counts of one class over an evaluation.
struct ClassCounts {
  std::int64_t num_samples = 0;    ///< samples with this label
  std::int64_t num_predicted = 0;  ///< samples predicted as this class
  std::int64_t num_correct = 0;    ///< samples with this label that were predicted as this class

  bool operator==(const ClassCounts&) const = default;
};

/// The counts that a metric is computed from, over all samples that have a label.
struct MetricCounts {
  double loss = 0;  ///< mean over the labels
  std::int64_t num_correct = 0, num_labels = 0;
  std::int64_t num_among_five = 0;            ///< number of labels among the kNumGuesses largest logits of their sample
  std::span<const ClassCounts> classes = {};  ///< by class; empty if classes were not counted
};

enum class MetricKind { kLoss, kTop1, kTop5, kBalancedAccuracy, kMacroF1 };

struct Metric {
  MetricKind kind = MetricKind::kTop1;
  const char* name = "";      ///< the word in train.metric and in column names such as val_macro_f1
  const char* synonyms = "";  ///< other usual names, in small letters: a message then names the right word
  const char* title = "";     ///< the name in sentences and tables: "macro F1"
  bool is_share = false;      ///< whether the value is in [0, 1] and shown in percent
  bool higher_is_better = true;
  /// The metric exists only for networks with at least this number of classes. 0: it exists for every network and for
  /// each of its objectives, and training steps count it.
  std::int64_t min_classes = 0;
  double (*compute)(const MetricCounts&) = nullptr;

  bool exists_for(std::int64_t num_classes) const { return num_classes >= min_classes; }
  bool is_better(double value, double than) const { return higher_is_better ? value > than : value < than; }
  /// The value as text: "88.20 %", "0.3021".
  std::string shown(double value) const;
};

namespace metrics {
double loss(const MetricCounts& counts);
/// The share of the samples whose label has the largest logit.
double top1(const MetricCounts& counts);
/// The share of the samples whose label is among the kNumGuesses largest logits.
double top5(const MetricCounts& counts);
/// The mean, over the classes that have samples, of the share of a class's samples that were predicted right:
/// scikit-learn's balanced_accuracy_score.
double balanced_accuracy(const MetricCounts& counts);
/// The mean of F1 = 2 TP / (2 TP + FP + FN) over the classes that have samples or were predicted: scikit-learn's
/// f1_score with average = 'macro'. A class that was predicted but has no sample counts as 0, and so does one that has
/// samples but was never predicted; a class without either does not count. So no F1 is 0 / 0, for which scikit-learn
/// has zero_division.
double macro_f1(const MetricCounts& counts);
}  // namespace metrics

/// All metrics. A new one needs a row here, a function in convoy::metrics and a MetricKind.
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
/// The metric of a name or column: "macro_f1", "val_macro_f1", "test_masked_words_top1". Null if no metric has it.
const Metric* find_metric(std::string_view column);
/// The title of a column: "val macro F1" for val_macro_f1. A column of no metric keeps its name.
std::string metric_title(std::string_view column);
/// Title and value: "macro F1 0.8123". If the program does not know the metric, the column's name and the plain number.
std::string named_value(std::string_view column, double value);

/// The names of the metrics of a network with that many classes: "loss, top1". 0: it predicts no classes.
std::string metric_names(std::int64_t num_classes);
/// The reason why a network with that many classes does not have the metric: "it needs 6 classes or more, and there are
/// 2".
std::string why_absent(const Metric& metric, std::int64_t num_classes);

}  // namespace convoy
