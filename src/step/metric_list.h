/// The metrics of a network: those that suit its number of classes, and the loss and top-1 of each of its objectives.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convoy/base/metrics.h"

#include "plan/step_plan.h"
#include "step/metrics.h"

namespace convoy {

/// A metric of the whole network, or of one of its objectives.
struct NetworkMetric {
  const Metric* metric = nullptr;  ///< its row of the table kMetrics
  std::int64_t objective = -1;     ///< index in StepPlan::objectives(); negative: the whole network
  std::string group = {};  ///< the objective's name as in column names: "masked_words"; empty for the whole network
  std::string title = {};  ///< name in messages and tables: "macro F1", "masked words loss"
  /// The objective's name as in messages: "masked words".
  std::string objective_name() const;

  /// The name in tables, where a prefix such as "val_" may come before it: "macro_f1", "masked_words_loss".
  std::string name() const { return group.empty() ? metric->name : group + "_" + metric->name; }
  /// Computes the metric.
  double value(const StepMetrics& metrics) const;
  /// The metric's value as text: "88.20 %".
  std::string shown(const StepMetrics& metrics) const { return metric->shown(value(metrics)); }
};

/// The metrics of a network.
class MetricList {
 public:
  /// `objectives` is StepPlan::objectives(). `num_classes` is the number of classes that the network predicts; 0: none.
  /// `chosen` is train.metric, a metric that the network has (StepPlan checks it).
  MetricList(const std::vector<std::string>& objectives = {}, std::int64_t num_classes = 0,
             MetricKind chosen = MetricKind::kTop1);
  explicit MetricList(const StepPlan& plan, MetricKind chosen = MetricKind::kTop1);

  /// Loss and top-1 of the whole network: the sum of the losses of all objectives, and top-1 of the first objective.
  const std::vector<NetworkMetric>& of_network() const { return network_; }
  /// Loss and top-1 of each objective; empty if the network does not compute its losses itself.
  const std::vector<NetworkMetric>& of_objectives() const { return objectives_; }
  /// The metrics that need counts of classes. Evaluations count classes, training steps do not.
  const std::vector<NetworkMetric>& of_classes() const { return classes_; }
  /// The metrics that exist for training steps: of_network() and of_objectives().
  std::vector<NetworkMetric> of_steps() const;
  /// All metrics: of_network(), of_objectives() and of_classes().
  std::vector<NetworkMetric> all() const;
  /// The metric of train.metric, which decides about the best checkpoint and train.patience_epochs.
  const NetworkMetric& chosen() const { return chosen_; }
  /// One line for each metric that the network does not have: "top-5 is left out: it needs 6 classes or more, and there
  /// are 2\n". Empty if it has all.
  const std::string& left_out() const { return left_out_; }

 private:
  std::vector<NetworkMetric> network_, objectives_, classes_;
  NetworkMetric chosen_;
  std::string left_out_;
};

}  // namespace convoy
