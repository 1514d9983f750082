/// Probabilities in double, the largest logits, and tables of predictions by class.
#include "evaluation/logits.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <numeric>

#include <fmt/core.h>

#include "convoy/base/text.h"

namespace convoy {

namespace {

// A field of a table; empty if the value does not exist.
std::string number_field(double value, int digits = 9) {
  return std::isnan(value) ? "" : fmt::format("{:.{}g}", value, digits);
}

}  // namespace

std::vector<std::int64_t> best_classes(std::span<const float> logits, std::int64_t count) {
  std::vector<std::int64_t> classes(logits.size());
  std::iota(classes.begin(), classes.end(), 0);
  const auto end = classes.begin() + std::min(count, std::ssize(classes));
  std::partial_sort(classes.begin(), end, classes.end(), [&](std::int64_t a, std::int64_t b) {
    return logits[a] > logits[b] || (logits[a] == logits[b] && a < b);
  });
  classes.erase(end, classes.end());
  return classes;
}

std::vector<double> probabilities(std::span<const float> logits) {
  const double largest = *std::ranges::max_element(logits);
  std::vector<double> result(logits.size());
  double sum = 0;
  for (std::size_t k = 0; k < logits.size(); ++k) sum += result[k] = std::exp(logits[k] - largest);
  for (double& p : result) p /= sum;
  return result;
}

std::vector<float> mean_of_views(std::span<const float> plain, std::span<const float> mirrored,
                                 std::int64_t num_classes) {
  static constexpr double kMin = std::numeric_limits<double>::min();
  const auto classes = static_cast<std::size_t>(num_classes);
  std::vector<float> result;
  result.reserve(plain.size());
  for (std::size_t row = 0; row < plain.size(); row += classes) {
    const std::vector<double> p = probabilities(plain.subspan(row, classes)),
                              q = probabilities(mirrored.subspan(row, classes));
    std::ranges::transform(p, q, std::back_inserter(result), [](double a, double b) {
      return static_cast<float>(std::log(std::max((a + b) / 2, kMin)));  // NaN stays NaN
    });
  }
  return result;
}

ops::LossSums score(std::span<const float> log_probabilities, std::int64_t label) {
  const auto best = std::ranges::max_element(log_probabilities) - log_probabilities.begin();
  return {.loss = -static_cast<double>(log_probabilities[static_cast<std::size_t>(label)]),
          .num_correct = best == label ? 1 : 0,
          .num_labels = 1,
          .num_samples = 1};
}

Guesses best_five(std::span<const float> logits) {
  Guesses best;
  best.fill(ops::kNoLabel);
  std::size_t count = 0;
  for (std::size_t k = 0; k < logits.size(); ++k) {
    std::size_t rank = count;  // how many of the largest so far stay before it
    while (rank > 0 && logits[k] > logits[static_cast<std::size_t>(best[rank - 1])]) --rank;
    if (rank == best.size()) continue;
    count = std::min(count + 1, best.size());
    std::copy_backward(best.begin() + rank, best.begin() + count - 1, best.begin() + count);
    best[rank] = static_cast<std::int32_t>(k);
  }
  return best;
}

std::int64_t Confusion::count(std::int64_t label, std::int64_t predicted) const {
  const auto found = counts_.find({label, predicted});
  return found == counts_.end() ? 0 : found->second;
}

std::string Confusion::table(const std::vector<std::string>& class_names) const {
  std::string text = "class";
  for (const std::string& name : class_names) text += "," + csv_field(name);
  text += "\n";
  for (std::int64_t label = 0; label < num_classes_; ++label) {
    text += csv_field(class_names[label]);
    for (std::int64_t predicted = 0; predicted < num_classes_; ++predicted)
      text += fmt::format(",{}", count(label, predicted));
    text += "\n";
  }
  return text;
}

std::string class_table(const std::vector<ClassCounts>& classes, const std::vector<double>& average_precisions,
                        const std::vector<std::string>& class_names) {
  const auto field = [](std::int64_t part, std::int64_t whole) {
    return number_field(static_cast<double>(part) / static_cast<double>(whole), 6);
  };
  const bool has_precisions = !average_precisions.empty();
  std::string text =
      fmt::format("class,samples,correct,accuracy,precision,f1{}\n", has_precisions ? ",average_precision" : "");
  for (std::size_t label = 0; label < classes.size(); ++label) {
    const ClassCounts& of = classes[label];
    text += fmt::format("{},{},{},{},{},{}{}\n", csv_field(class_names[label]), of.num_samples, of.num_correct,
                        field(of.num_correct, of.num_samples), field(of.num_correct, of.num_predicted),
                        field(2 * of.num_correct, of.num_samples + of.num_predicted),
                        has_precisions ? "," + number_field(average_precisions[label]) : "");
  }
  return text;
}

std::string number_table(const std::vector<TargetSums>& numbers, const std::vector<std::string>& names) {
  std::string text = "target,samples,rmse,mae,r2\n";
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    const MetricCounts counts{.targets = {&numbers[k], 1}};
    text += fmt::format("{},{},{},{},{}\n", csv_field(names[k]), numbers[k].count, number_field(metrics::rmse(counts)),
                        number_field(metrics::mae(counts)), number_field(metrics::r2(counts)));
  }
  return text;
}

}  // namespace convoy
