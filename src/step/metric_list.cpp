/// Makes the list of a network's metrics.
#include "step/metric_list.h"

#include <algorithm>
#include <cctype>
#include <set>

#include <fmt/core.h>

namespace convoy {

namespace {

// Returns the name as a part of a column's name: letters, digits, bytes of UTF-8 and -, . stay, others become _.
std::string in_columns(std::string name) {
  const auto becomes_line = [](unsigned char c) { return c < 0x80 && std::isalnum(c) == 0 && c != '-' && c != '.'; };
  std::ranges::replace_if(name, becomes_line, '_');
  return name;
}

}  // namespace

double NetworkMetric::value(const StepMetrics& metrics) const {
  if (objective >= 0) return metric->compute(metrics.counts_of(objective));
  MetricCounts counts = metrics.counts();
  if (number >= 0 && !counts.targets.empty()) counts.targets = counts.targets.subspan(number, 1);
  return metric->compute(counts);
}

std::string NetworkMetric::objective_name() const {
  std::string name = group;
  std::ranges::replace(name, '_', ' ');
  return name;
}

MetricList::MetricList(const MetricListSpec& spec) {
  const std::int64_t num_outputs = std::ssize(spec.outputs);
  const MetricKind chosen = spec.chosen.value_or(default_metric(spec.target, num_outputs));
  const std::vector<std::string>& objectives = spec.objectives;
  for (const Metric& metric : kMetrics) {
    if (!metric.exists_for(spec.target, num_outputs)) {
      if (metric.measures(spec.target))
        left_out_ += fmt::format("{} is left out: {}\n", metric.title, why_absent(metric, spec.target, num_outputs));
      continue;
    }
    const bool is_of_first = metric.kind == MetricKind::kTop1 && !objectives.empty();
    const NetworkMetric row{.metric = &metric,
                            .title = is_of_first ? objectives.front() + " " + metric.title : metric.title};
    (metric.min_outputs == 0 ? network_ : outputs_).push_back(row);
    if (metric.kind == chosen) chosen_ = row;
  }
  for (std::size_t o = 0; o < objectives.size(); ++o)
    for (const NetworkMetric& of_network : network_)
      objectives_.push_back({.metric = of_network.metric,
                             .objective = static_cast<std::int64_t>(o),
                             .group = in_columns(objectives[o]),
                             .title = objectives[o] + " " + of_network.metric->title});
  if (spec.target == TargetKind::kNumbers && num_outputs > 1 && num_outputs <= kMaxListedNumbers) add_numbers(spec);
}

// The means over all numbers come first, then the metrics of each number.
void MetricList::add_numbers(const MetricListSpec& spec) {
  const std::vector<NetworkMetric> of_all = outputs_;
  std::set<std::string> groups;
  for (std::size_t k = 0; k < spec.outputs.size(); ++k) {
    std::string group = in_columns(spec.outputs[k]);
    if (!groups.insert(group).second) group += fmt::format("_{}", k + 1);  // as of "a b" and "a_b"
    for (const NetworkMetric& mean : of_all)
      outputs_.push_back({.metric = mean.metric,
                          .number = static_cast<std::int64_t>(k),
                          .group = group,
                          .title = spec.outputs[k] + " " + mean.metric->title});
  }
}

MetricList::MetricList(const StepPlan& plan, const io::ModelMetadata& metadata, std::optional<MetricKind> chosen)
    : MetricList({.objectives = plan.objectives(),
                  .target = metadata.target.kind,
                  .outputs = plan.gives_logits() ? metadata.class_names : std::vector<std::string>{},
                  .chosen = chosen}) {}

std::vector<NetworkMetric> MetricList::of_steps() const {
  std::vector<NetworkMetric> list = network_;
  list.insert(list.end(), objectives_.begin(), objectives_.end());
  return list;
}

std::vector<NetworkMetric> MetricList::all() const {
  std::vector<NetworkMetric> list = of_steps();
  list.insert(list.end(), outputs_.begin(), outputs_.end());
  return list;
}

}  // namespace convoy
