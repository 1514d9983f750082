/// The values of metrics from counts, and how they are named and shown.
#include "convoy/base/metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "convoy/base/wording.h"

namespace convoy {

namespace {

// The share of nothing is NaN, without the sign that 0 / 0 may give.
double share(std::int64_t part, std::int64_t whole) {
  if (whole == 0) return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(part) / static_cast<double>(whole);
}

// The mean of the values that exist, summed in the order of the outputs; NaN if none exists.
template <typename Counts, typename Value>
double mean_over(std::span<const Counts> outputs, const Value& value_of) {
  double sum = 0;
  std::int64_t num_values = 0;
  for (const Counts& counts : outputs) {
    const std::optional<double> value = value_of(counts);
    if (!value) continue;
    sum += *value;
    ++num_values;
  }
  return num_values == 0 ? share(0, 0) : sum / static_cast<double>(num_values);
}

std::optional<double> fraction(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? std::nullopt : std::optional(share(part, whole));
}

// Calls mean_over() for the numbers of which samples are known.
template <typename Value>
double mean_over_targets(const MetricCounts& counts, const Value& value_of) {
  return mean_over(counts.targets, [&](const TargetSums& sums) {
    return sums.count == 0 ? std::nullopt : std::optional<double>(value_of(sums, static_cast<double>(sums.count)));
  });
}

// Above this a value is shown with an exponent: losses that blow up have many digits.
constexpr double kMaxPlain = 1e4;

}  // namespace

// Welford 1962: the mean and the sum of squares about it, value by value.
void TargetSums::add(double predicted, double target) {
  const double error = predicted - target, before = target - mean;
  ++count;
  squares += error * error;
  magnitudes += std::abs(error);
  mean += before / static_cast<double>(count);
  deviations += before * (target - mean);
}

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
  return mean_over(counts.classes, [](const ClassCounts& of) { return fraction(of.num_correct, of.num_samples); });
}

// 2 TP + FP + FN = samples + predicted
double macro_f1(const MetricCounts& counts) {
  return mean_over(counts.classes, [](const ClassCounts& of) {
    return fraction(2 * of.num_correct, of.num_samples + of.num_predicted);
  });
}

double mean_average_precision(const MetricCounts& counts) {
  return mean_over(counts.average_precisions,
                   [](double precision) { return std::isnan(precision) ? std::nullopt : std::optional(precision); });
}

double rmse(const MetricCounts& counts) {
  return mean_over_targets(counts,
                           [](const TargetSums& sums, double count) { return std::sqrt(sums.squares / count); });
}

double mae(const MetricCounts& counts) {
  return mean_over_targets(counts, [](const TargetSums& sums, double count) { return sums.magnitudes / count; });
}

double r2(const MetricCounts& counts) {
  return mean_over(counts.targets, [](const TargetSums& sums) {
    return sums.deviations == 0 ? std::nullopt : std::optional(1 - sums.squares / sums.deviations);
  });
}

}  // namespace metrics

std::string Metric::shown(double value) const {
  if (std::isnan(value)) return "nan";
  if (is_share) return fmt::format("{:.2f} %", 100 * value);
  if (has_unit) return plain_number(value);
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

MetricKind default_metric(TargetKind kind, std::int64_t num_outputs) {
  return *std::ranges::find_if(kUsualMetrics,
                               [&](MetricKind usual) { return metric(usual).exists_for(kind, num_outputs); });
}

std::string metric_names(TargetKind kind, std::int64_t num_outputs) {
  std::vector<std::string> names;
  for (const Metric& candidate : kMetrics)
    if (candidate.exists_for(kind, num_outputs)) names.emplace_back(candidate.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string why_absent(const Metric& metric, TargetKind kind, std::int64_t num_outputs) {
  if (num_outputs > 0 && metric.measures(kind))
    return fmt::format("it needs at least {} {}, and the data has {}", metric.min_outputs, outputs_of(kind),
                       num_outputs);
  std::vector<std::string> measured;
  for (const TargetKind of : {TargetKind::kClass, TargetKind::kLabels, TargetKind::kNumbers})
    if (metric.measures(of) && (of == kind || !metric.measures(kind))) measured.emplace_back(outputs_of(of));
  return fmt::format("it measures the prediction of {}, and this network predicts {}", fmt::join(measured, " or "),
                     num_outputs == 0 ? "none" : outputs_of(kind));
}

}  // namespace convoy
