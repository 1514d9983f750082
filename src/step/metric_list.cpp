/// Makes the list of a network's metrics.
#include "step/metric_list.h"

#include <algorithm>

#include <fmt/core.h>

namespace convoy {

namespace {

std::string in_columns(std::string objective) {
  std::ranges::replace(objective, ' ', '_');
  return objective;
}

}  // namespace

double NetworkMetric::value(const StepMetrics& metrics) const {
  return metric->compute(objective < 0 ? metrics.counts() : metrics.counts_of(objective));
}

std::string NetworkMetric::objective_name() const {
  std::string name = group;
  std::ranges::replace(name, '_', ' ');
  return name;
}

MetricList::MetricList(const std::vector<std::string>& objectives, std::int64_t num_classes, MetricKind chosen) {
  for (const Metric& metric : kMetrics) {
    if (!metric.exists_for(num_classes)) {
      left_out_ += fmt::format("{} is left out: {}\n", metric.title, why_absent(metric, num_classes));
      continue;
    }
    const bool is_of_first = metric.kind == MetricKind::kTop1 && !objectives.empty();
    const NetworkMetric row{.metric = &metric,
                            .title = is_of_first ? objectives.front() + " " + metric.title : metric.title};
    (metric.min_classes == 0 ? network_ : classes_).push_back(row);
    if (metric.kind == chosen) chosen_ = row;
  }
  for (std::size_t o = 0; o < objectives.size(); ++o)
    for (const NetworkMetric& of_network : network_)
      objectives_.push_back({.metric = of_network.metric,
                             .objective = static_cast<std::int64_t>(o),
                             .group = in_columns(objectives[o]),
                             .title = objectives[o] + " " + of_network.metric->title});
}

MetricList::MetricList(const StepPlan& plan, MetricKind chosen)
    : MetricList(plan.objectives(), plan.num_predicted_classes(), chosen) {}

std::vector<NetworkMetric> MetricList::of_steps() const {
  std::vector<NetworkMetric> list = network_;
  list.insert(list.end(), objectives_.begin(), objectives_.end());
  return list;
}

std::vector<NetworkMetric> MetricList::all() const {
  std::vector<NetworkMetric> list = of_steps();
  list.insert(list.end(), classes_.begin(), classes_.end());
  return list;
}

}  // namespace convoy
