/// The values of metrics from counts, and how they are named and shown.
#include "convoy/base/metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <fmt/format.h>

namespace convoy {

namespace {

// The share of nothing is NaN, without the sign that 0 / 0 may give.
double share(std::int64_t part, std::int64_t whole) {
  if (whole == 0) return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(part) / static_cast<double>(whole);
}

// The mean of the fractions that are not 0 / 0, summed in the order of the classes.
template <typename Value>
double mean_over_classes(std::span<const ClassCounts> classes, const Value& value_of) {
  double sum = 0;
  std::int64_t num_classes = 0;
  for (const ClassCounts& counts : classes) {
    const auto [part, whole] = value_of(counts);
    if (whole == 0) continue;
    sum += share(part, whole);
    ++num_classes;
  }
  return num_classes == 0 ? share(0, 0) : sum / static_cast<double>(num_classes);
}

struct Fraction {
  std::int64_t part, whole;
};

// Above this a value is shown with an exponent: losses that blow up have many digits.
constexpr double kMaxPlain = 1e4;

}  // namespace

namespace metrics {

double loss(const MetricCounts& counts) {
  return counts.loss;
}

double top1(const MetricCounts& counts) {
  return share(counts.num_correct, counts.num_labels);
}

double top5(const MetricCounts& counts) {
  return share(counts.num_among_five, counts.num_labels);
}

double balanced_accuracy(const MetricCounts& counts) {
  return mean_over_classes(
      counts.classes, [](const ClassCounts& of) { return Fraction{.part = of.num_correct, .whole = of.num_samples}; });
}

// 2 TP + FP + FN = samples + predicted
double macro_f1(const MetricCounts& counts) {
  return mean_over_classes(counts.classes, [](const ClassCounts& of) {
    return Fraction{.part = 2 * of.num_correct, .whole = of.num_samples + of.num_predicted};
  });
}

}  // namespace metrics

std::string Metric::shown(double value) const {
  if (std::isnan(value)) return "nan";
  if (is_share) return fmt::format("{:.2f} %", 100 * value);
  return value < kMaxPlain ? fmt::format("{:.4f}", value) : fmt::format("{:.3e}", value);
}

const Metric& metric(MetricKind kind) {
  return *std::ranges::find(kMetrics, kind, &Metric::kind);
}

const Metric* find_metric(std::string_view column) {
  for (const Metric& candidate : kMetrics) {
    const std::string_view name = candidate.name;
    if (!column.ends_with(name)) continue;
    if (column.size() == name.size() || column[column.size() - name.size() - 1] == '_') return &candidate;
  }
  return nullptr;
}

std::string metric_title(std::string_view column) {
  const Metric* const found = find_metric(column);
  if (found == nullptr) return std::string(column);
  std::string before(column.substr(0, column.size() - std::string_view(found->name).size()));
  std::ranges::replace(before, '_', ' ');
  return before + found->title;
}

std::string named_value(std::string_view column, double value) {
  const Metric* const found = find_metric(column);
  return fmt::format("{} {}", metric_title(column), found != nullptr ? found->shown(value) : fmt::format("{}", value));
}

std::string metric_names(std::int64_t num_classes) {
  std::vector<std::string> names;
  for (const Metric& candidate : kMetrics)
    if (candidate.exists_for(num_classes)) names.emplace_back(candidate.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string why_absent(const Metric& metric, std::int64_t num_classes) {
  if (num_classes == 0) return "it measures the prediction of classes, and this network predicts none";
  return fmt::format("it needs at least {} classes, and the data has {}", metric.min_classes, num_classes);
}

}  // namespace convoy
