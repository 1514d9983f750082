/// Compares outputs with targets, sample by sample.
#include "evaluation/output_scores.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include <fmt/core.h>

#include "convoy/base/deviation.h"

namespace convoy {

float number_of(const Target& target, std::size_t k, float y) {
  if (target.mean.empty()) return y;
  return static_cast<float>(static_cast<double>(y) * divisor_of(target.stddev[k]) + target.mean[k]);
}

double label_probability(float y) {
  return 1 / (1 + std::exp(-static_cast<double>(y)));
}

// A threshold counts only where a sample has the label: elsewhere recall does not increase.
double average_precision(std::vector<float>& with, std::vector<float>& without) {
  if (with.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::ranges::sort(with, std::greater<>());
  std::ranges::sort(without, std::greater<>());
  double sum = 0;
  std::size_t before = 0, right = 0, wrong = 0;  // samples above the threshold before, and from this one on
  for (; before < with.size(); before = right) {
    const float threshold = with[before];
    while (right < with.size() && with[right] == threshold) ++right;
    while (wrong < without.size() && without[wrong] >= threshold) ++wrong;
    sum += static_cast<double>(right - before) * static_cast<double>(right) / static_cast<double>(right + wrong);
  }
  return sum / static_cast<double>(with.size());
}

std::string why_no_average_precision(const io::DatasetInfo& data, const std::string& key) {
  if (data.target.kind != TargetKind::kLabels || data.num_samples <= kMaxKeptOutputs / data.num_target_values())
    return "";
  return fmt::format(
      "mean average precision is left out: it keeps the outputs of all {} samples of {} for {} labels in memory, and "
      "at most {} outputs are kept",
      data.num_samples, key, data.num_target_values(), kMaxKeptOutputs);
}

ClassScores::ClassScores(const io::SampleStore& samples, bool are_log_probabilities, Confusion* confusion)
    : samples_(samples), are_log_probabilities_(are_log_probabilities), confusion_(confusion) {
  counts_.classes.resize(samples.info().class_names.size());
}

void ClassScores::add(std::int64_t sample, std::span<const float> outputs) {
  add(sample, best_five(outputs));
  const std::int32_t label = samples_.label(sample);
  if (are_log_probabilities_ && label != ops::kNoLabel) counts_ += {{score(outputs, label)}};
}

void ClassScores::add(std::int64_t sample, const Guesses& guesses) {
  const std::int32_t label = samples_.label(sample);
  if (label == ops::kNoLabel) return;
  ClassCounts &of_label = class_of(label), &of_predicted = class_of(guesses.front());
  ++of_label.num_samples;
  ++of_predicted.num_predicted;
  if (label == guesses.front()) ++of_label.num_correct;
  if (std::ranges::find(guesses, label) != guesses.end()) ++counts_.num_among_five;
  if (confusion_ != nullptr) confusion_->add(label, guesses.front());
}

void ClassScores::write_to(StepMetrics& total) {
  if (!are_log_probabilities_) counts_.objectives = std::move(total.objectives);
  total = std::move(counts_);
}

LabelScores::LabelScores(const io::SampleStore& samples)
    : samples_(samples), targets_(samples.info().class_names.size()), counts_(targets_.size()) {
  if (why_no_average_precision(samples.info(), "").empty()) outputs_.resize(targets_.size());
}

void LabelScores::add(std::int64_t sample, std::span<const float> outputs) {
  samples_.read_target(sample, targets_);
  for (std::size_t k = 0; k < targets_.size(); ++k) {
    const float target = targets_[k], y = outputs[k];
    if (std::isnan(target)) continue;
    const bool has = target > 0.5F, is_predicted = y > 0;
    counts_[k].num_samples += has ? 1 : 0;
    counts_[k].num_predicted += is_predicted ? 1 : 0;
    counts_[k].num_correct += has && is_predicted ? 1 : 0;
    if (outputs_.empty()) continue;
    if (std::isnan(y))
      outputs_[k].has_nan = true;
    else
      (has ? outputs_[k].with : outputs_[k].without).push_back(y);
  }
}

void LabelScores::write_to(StepMetrics& total) {
  total.classes = std::move(counts_);
  total.average_precisions.clear();
  for (Outputs& of_label : outputs_)
    total.average_precisions.push_back(of_label.has_nan ? std::numeric_limits<double>::quiet_NaN()
                                                        : average_precision(of_label.with, of_label.without));
}

NumberScores::NumberScores(const io::SampleStore& samples, const Target& target)
    : samples_(samples),
      target_(target),
      sums_(samples.info().class_names.size()),
      targets_(static_cast<std::size_t>(samples.info().num_target_values())) {}

void NumberScores::add(std::int64_t sample, std::span<const float> outputs) {
  samples_.read_target(sample, targets_);
  for (std::size_t i = 0; i < targets_.size(); ++i)
    if (const std::size_t k = i % sums_.size(); !std::isnan(targets_[i]))
      sums_[k].add(number_of(target_, k, outputs[i]), targets_[i]);
}

void NumberScores::write_to(StepMetrics& total) {
  total.targets = std::move(sums_);
}

}  // namespace convoy
