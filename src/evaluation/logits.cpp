/// Probabilities in double, and counts of predictions by class.
#include "evaluation/logits.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "convoy/base/text.h"

namespace convoy {

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

namespace {

double share(std::int64_t part, std::int64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

void ClassScores::add(std::int64_t label, std::span<const float> logits) {
  const std::int64_t predicted = std::max_element(logits.begin(), logits.end()) - logits.begin();
  ++counts_[{label, predicted}];
  ++num_samples_;
  std::int64_t num_before = 0;
  for (std::int64_t k = 0; k < num_classes_; ++k)
    if (logits[k] > logits[label] || (logits[k] == logits[label] && k < label)) ++num_before;
  if (num_before < kGuesses) ++num_among_best_;
}

std::int64_t ClassScores::count(std::int64_t label, std::int64_t predicted) const {
  const auto found = counts_.find({label, predicted});
  return found == counts_.end() ? 0 : found->second;
}

std::string ClassScores::confusion_table(const std::vector<std::string>& class_names) const {
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

std::vector<ClassScores::Totals> ClassScores::totals() const {
  std::vector<Totals> all(static_cast<std::size_t>(num_classes_));
  for (const auto& [classes, count] : counts_) {
    const auto [label, predicted] = classes;
    all[static_cast<std::size_t>(label)].num_samples += count;
    all[static_cast<std::size_t>(predicted)].num_predicted += count;
    if (label == predicted) all[static_cast<std::size_t>(label)].num_correct += count;
  }
  return all;
}

double ClassScores::balanced_accuracy() const {
  double sum = 0;
  std::int64_t num_classes = 0;
  for (const Totals& of : totals()) {
    if (of.num_samples == 0) continue;
    sum += share(of.num_correct, of.num_samples);
    ++num_classes;
  }
  return sum / static_cast<double>(num_classes);
}

// 2 TP + FP + FN = samples + predicted
double ClassScores::macro_f1() const {
  double sum = 0;
  std::int64_t num_classes = 0;
  for (const Totals& of : totals()) {
    if (of.num_samples + of.num_predicted == 0) continue;
    sum += share(2 * of.num_correct, of.num_samples + of.num_predicted);
    ++num_classes;
  }
  return sum / static_cast<double>(num_classes);
}

std::string ClassScores::class_table(const std::vector<std::string>& class_names) const {
  const auto field = [](std::int64_t part, std::int64_t whole) {
    return whole > 0 ? fmt::format("{:.6g}", share(part, whole)) : "";
  };
  std::string text = "class,samples,correct,accuracy,precision,f1\n";
  const std::vector<Totals> all = totals();
  for (std::size_t label = 0; label < all.size(); ++label) {
    const Totals& of = all[label];
    text += fmt::format("{},{},{},{},{},{}\n", csv_field(class_names[label]), of.num_samples, of.num_correct,
                        field(of.num_correct, of.num_samples), field(of.num_correct, of.num_predicted),
                        field(2 * of.num_correct, of.num_samples + of.num_predicted));
  }
  return text;
}

}  // namespace convoy
