/// The metrics of a network: those that suit its outputs, and the loss and top-1 of each of its objectives.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "convoy/base/metrics.h"
#include "convoy/io/model_metadata.h"

#include "plan/step_plan.h"
#include "step/metrics.h"

namespace convoy {

/// A metric of the whole network, of one of its objectives, or of one of the numbers that it predicts.
struct NetworkMetric {
  const Metric* metric = nullptr;  ///< its row of the table kMetrics
  std::int64_t objective = -1;     ///< index in StepPlan::objectives(); negative: not of an objective
  std::int64_t number = -1;        ///< index of the number that is predicted; negative: the mean over all
  /// The name of the objective or number as in column names: "masked_words"; empty for the whole network.
  std::string group = {};
  std::string title = {};  ///< name in messages and tables: "macro F1", "masked words loss", "energy RMSE"
  /// The objective's name as in messages: "masked words".
  std::string objective_name() const;

  /// The name in tables, where a prefix such as "val_" may come before it: "macro_f1", "masked_words_loss",
  /// "energy_rmse".
  std::string name() const { return group.empty() ? metric->name : group + "_" + metric->name; }
  /// Computes the metric.
  double value(const StepMetrics& metrics) const;
  /// The metric's value as text: "88.20 %".
  std::string shown(const StepMetrics& metrics) const { return metric->shown(value(metrics)); }
};

/// The number of numbers up to which a network that predicts several has the metrics of each, not only their means.
inline constexpr std::int64_t kMaxListedNumbers = 16;

/// What a list of metrics is made from.
struct MetricListSpec {
  std::vector<std::string> objectives = {};  ///< StepPlan::objectives()
  TargetKind target = TargetKind::kClass;
  /// Names of the classes, labels or numbers that the network predicts; empty if it computes its losses itself.
  std::vector<std::string> outputs = {};
  /// train.metric, a metric that the network has (StepPlan checks it); nothing: auto.
  std::optional<MetricKind> chosen = {};
};

/// The metrics of a network.
class MetricList {
 public:
  MetricList() : MetricList(MetricListSpec{}) {}
  explicit MetricList(const MetricListSpec& spec);
  /// `metadata` describes the network of the plan; `chosen` is train.metric.
  MetricList(const StepPlan& plan, const io::ModelMetadata& metadata, std::optional<MetricKind> chosen = {});

  /// Loss and, if the network predicts classes, top-1 of the whole network: the sum of the losses of all objectives,
  /// and top-1 of the first objective.
  const std::vector<NetworkMetric>& of_network() const { return network_; }
  /// Whether the network has top-1, which tables then show next to the loss.
  bool has_top1() const { return network_.size() > 1; }
  /// Loss and top-1 of each objective; empty if the network does not compute its losses itself.
  const std::vector<NetworkMetric>& of_objectives() const { return objectives_; }
  /// The metrics that only evaluations compute, since they need the outputs of all samples.
  const std::vector<NetworkMetric>& of_outputs() const { return outputs_; }
  /// The metrics that exist for training steps: of_network() and of_objectives().
  std::vector<NetworkMetric> of_steps() const;
  /// All metrics: of_network(), of_objectives() and of_outputs().
  std::vector<NetworkMetric> all() const;
  /// The metric of train.metric, which decides about the best checkpoint and train.patience_epochs.
  const NetworkMetric& chosen() const { return chosen_; }
  /// One line for each metric that networks with such targets have, but not this one: "top-5 is left out: it needs at
  /// least 6 classes, and the data has 2\n". Empty if it has all.
  const std::string& left_out() const { return left_out_; }

 private:
  void add_numbers(const MetricListSpec& spec);

  std::vector<NetworkMetric> network_, objectives_, outputs_;
  NetworkMetric chosen_;
  std::string left_out_;
};

}  // namespace convoy
