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
  std::int64_t objective = -1;  ///< by number, in the plan's order; below 0: the whole network
  std::string group = {};       ///< the objective's name as columns have it: "masked_words"; of the network empty
  std::string title = {};       ///< "macro F1", "masked words loss"
  std::string objective_name() const;  ///< "masked words"

  /// "macro_f1", "masked_words_loss": what a column is called, after "val_" and the like.
  std::string name() const { return group.empty() ? metric->name : group + "_" + metric->name; }
  double value(const StepMetrics& metrics) const;
  std::string shown(const StepMetrics& metrics) const { return metric->shown(value(metrics)); }
};

class MetricList {
 public:
  /// `objectives`: StepPlan::objectives(). `num_classes`: that the network predicts; 0: none. `chosen`: train.metric,
  /// which StepPlan has checked.
  MetricList(const std::vector<std::string>& objectives = {}, std::int64_t num_classes = 0,
             MetricKind chosen = MetricKind::kTop1);
  explicit MetricList(const StepPlan& plan, MetricKind chosen = MetricKind::kTop1);

  /// Loss and top-1 of the whole network. Of several objectives: the losses' sum, and top-1 of the first.
  const std::vector<NetworkMetric>& of_network() const { return network_; }
  /// Loss and top-1 of each objective; empty where there is one.
  const std::vector<NetworkMetric>& of_objectives() const { return objectives_; }
  /// What is computed from counts of classes, which evaluations have and training steps have not.
  const std::vector<NetworkMetric>& of_classes() const { return classes_; }
  /// Those that training steps count: of_network() and of_objectives().
  std::vector<NetworkMetric> of_steps() const;
  /// All three.
  std::vector<NetworkMetric> all() const;
  /// What the best checkpoint and patience follow.
  const NetworkMetric& chosen() const { return chosen_; }
  /// "top-5 is left out: it needs 6 classes or more, and there are 2\n": a line for each metric that the network does
  /// not have.
  const std::string& left_out() const { return left_out_; }

 private:
  std::vector<NetworkMetric> network_, objectives_, classes_;
  NetworkMetric chosen_;
  std::string left_out_;
};

}  // namespace convoy
