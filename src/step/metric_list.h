/// The metrics of a network: those of the list that it has, and what each of its objectives is measured by.
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
  const Metric* metric = nullptr;
  std::int64_t objective = -1;  ///< number in the plan's order; below 0: the whole network
  std::string group = {};  ///< the objective's name in names of columns: "masked_words"; empty for the whole network
  std::string title = {};  ///< "macro F1", "masked words loss"
  std::string objective_name() const;  ///< "masked words"

  /// The name of a column, after "val_" and the like: "macro_f1", "masked_words_loss".
  std::string name() const { return group.empty() ? metric->name : group + "_" + metric->name; }
  double value(const StepMetrics& metrics) const;
  std::string shown(const StepMetrics& metrics) const { return metric->shown(value(metrics)); }
};

class MetricList {
 public:
  /// `objectives` are StepPlan::objectives(). `num_classes` is the number of classes that the network predicts; 0:
  /// none. `chosen` is train.metric, which StepPlan has checked.
  MetricList(const std::vector<std::string>& objectives = {}, std::int64_t num_classes = 0,
             MetricKind chosen = MetricKind::kTop1);
  explicit MetricList(const StepPlan& plan, MetricKind chosen = MetricKind::kTop1);

  /// Loss and top-1 of the whole network: with several objectives the sum of their losses, and top-1 of the first.
  const std::vector<NetworkMetric>& of_network() const { return network_; }
  /// Loss and top-1 of each objective; empty if there is only one.
  const std::vector<NetworkMetric>& of_objectives() const { return objectives_; }
  /// Metrics that are computed from counts of classes: evaluations have these counts, training steps do not.
  const std::vector<NetworkMetric>& of_classes() const { return classes_; }
  /// Metrics of training steps: of_network() and of_objectives().
  std::vector<NetworkMetric> of_steps() const;
  /// All metrics: of_network(), of_objectives() and of_classes().
  std::vector<NetworkMetric> all() const;
  /// The metric that the best checkpoint and train.patience follow.
  const NetworkMetric& chosen() const { return chosen_; }
  /// A line for each metric that the network does not have: "top-5 is left out: it needs 6 classes or more, and there
  /// are 2\n".
  const std::string& left_out() const { return left_out_; }

 private:
  std::vector<NetworkMetric> network_, objectives_, classes_;
  NetworkMetric chosen_;
  std::string left_out_;
};

}  // namespace convoy
