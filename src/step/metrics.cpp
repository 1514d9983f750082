/// Adds up the sums of all micro-batches in their order.
#include "step/metrics.h"

#include <algorithm>
#include <cstring>

namespace convoy {

namespace {

void add(const ops::LossSums& more, ops::LossSums& sums) {
  sums.loss += more.loss;
  sums.num_correct += more.num_correct;
  sums.num_labels += more.num_labels;
  sums.num_samples += more.num_samples;
}

}  // namespace

double StepMetrics::mean_loss() const {
  double sum = 0;
  for (const ops::LossSums& objective : objectives) sum += convoy::mean_loss(objective);
  return sum;
}

MetricCounts StepMetrics::counts() const {
  MetricCounts counts = counts_of(0);
  counts.loss = mean_loss();
  counts.num_among_five = num_among_five;
  counts.classes = classes;
  counts.average_precisions = average_precisions;
  counts.targets = targets;
  return counts;
}

MetricCounts StepMetrics::counts_of(std::int64_t objective) const {
  const ops::LossSums& sums = objectives[static_cast<std::size_t>(objective)];
  return {.loss = convoy::mean_loss(sums), .num_correct = sums.num_correct, .num_labels = sums.num_labels};
}

StepMetrics& StepMetrics::operator+=(const StepMetrics& other) {
  objectives.resize(std::max(objectives.size(), other.objectives.size()));
  for (std::size_t o = 0; o < other.objectives.size(); ++o) add(other.objectives[o], objectives[o]);
  return *this;
}

MetricsChannel::MetricsChannel(const RankRuntime& runtime, int tag)
    : num_objectives_(runtime.plan().num_objectives()),
      channel_(runtime, {.item_bytes = num_objectives_ * static_cast<std::int64_t>(sizeof(ops::LossSums)),
                         .tag = tag,
                         .stage = runtime.grid().num_stages() - 1}) {}

StepMetrics MetricsChannel::collect() {
  StepMetrics metrics;
  collect_into(metrics);
  return metrics;
}

void MetricsChannel::collect_into(StepMetrics& metrics) {
  metrics.objectives.resize(static_cast<std::size_t>(num_objectives_));
  std::size_t objective = 0;
  for (std::span<const std::byte> left = channel_.collect(); !left.empty();
       left = left.subspan(sizeof(ops::LossSums))) {
    ops::LossSums sums;
    std::memcpy(&sums, left.data(), sizeof sums);
    add(sums, metrics.objectives[objective]);
    objective = (objective + 1) % metrics.objectives.size();
  }
}

}  // namespace convoy
