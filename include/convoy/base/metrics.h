/// The list of metrics: what a network is measured by, each under one name in keys, tables, logs and checkpoints.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace convoy {

/// How many predictions of a sample top-5 looks at.
inline constexpr std::int64_t kNumGuesses = 5;

/// Counts of one class over an evaluation.
struct ClassCounts {
  std::int64_t num_samples = 0;    ///< whose label it is
  std::int64_t num_predicted = 0;  ///< that were taken for it
  std::int64_t num_correct = 0;    ///< both

  bool operator==(const ClassCounts&) const = default;
};

/// What a metric is computed from: counts over all samples that have a label.
struct MetricCounts {
  double loss = 0;  ///< the mean
  std::int64_t num_correct = 0, num_labels = 0;
  std::int64_t num_among_five = 0;            ///< labels among the kNumGuesses largest logits
  std::span<const ClassCounts> classes = {};  ///< of all classes, in their order; empty where none were counted
};

enum class MetricKind { kLoss, kTop1, kTop5, kBalancedAccuracy, kMacroF1 };

struct Metric {
  MetricKind kind = MetricKind::kTop1;
  const char* name = "";      ///< in train.metric, and in columns of tables: val_macro_f1
  const char* synonyms = "";  ///< what else people call it, in small letters: a message then names the right word
  const char* title = "";     ///< as people read it: "macro F1"
  bool is_share = false;      ///< in [0, 1], and shown in percent
  bool higher_is_better = true;
  /// A network that predicts fewer classes does not have it. 0: every network has it, for each of its objectives too,
  /// and training steps count it.
  std::int64_t min_classes = 0;
  double (*compute)(const MetricCounts&) = nullptr;

  bool exists_for(std::int64_t num_classes) const { return num_classes >= min_classes; }
  bool is_better(double value, double than) const { return higher_is_better ? value > than : value < than; }
  /// "88.20 %", "0.3021".
  std::string shown(double value) const;
};

namespace metrics {
double loss(const MetricCounts& counts);
/// Share of the labels that had the largest logit.
double top1(const MetricCounts& counts);
/// Share of the samples whose label is among the kNumGuesses largest logits.
double top5(const MetricCounts& counts);
/// Mean over the classes that have samples of the share of these that was right: scikit-learn's
/// balanced_accuracy_score. A class without samples does not count.
double balanced_accuracy(const MetricCounts& counts);
/// Mean of F1 = 2 TP / (2 TP + FP + FN) over the classes that have samples or were predicted: scikit-learn's f1_score
/// with average = 'macro'. A class that was predicted and has no sample counts as 0, so does one that has samples and
/// was never predicted; one that is in neither does not count. So no F1 is 0 / 0, for which scikit-learn has
/// zero_division.
double macro_f1(const MetricCounts& counts);
}  // namespace metrics

/// All metrics. A new one is a row here, its value and a MetricKind.
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
/// The metric of a name or of a column: of "macro_f1", "val_macro_f1", "test_masked_words_top1". Null: there is none.
const Metric* find_metric(std::string_view column);
/// "val macro F1" of val_macro_f1; a column of no metric keeps its name.
std::string metric_title(std::string_view column);
/// "macro F1 0.8123"; of a name that this program does not know the number alone follows it.
std::string named_value(std::string_view column, double value);

/// The names of the metrics that a network of that many classes has: "loss, top1". 0: it predicts no classes.
std::string metric_names(std::int64_t num_classes);
/// Why a network of that many classes does not have the metric: "it needs 6 classes or more, and there are 2".
std::string why_absent(const Metric& metric, std::int64_t num_classes);

}  // namespace convoy
