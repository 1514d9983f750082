/// One class for each kind of target.
#include "inference/prediction_rows.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include <fmt/format.h>

#include "convoy/base/text.h"
#include "convoy/ops/softmax_cross_entropy.h"

#include "evaluation/logits.h"
#include "evaluation/output_scores.h"

namespace convoy {

namespace {

std::string class_name(const io::SampleStore& data, std::int64_t sample) {
  const std::int32_t label = data.label(sample);
  return label == ops::kNoLabel ? "" : data.info().class_names[label];
}

// Returns the true labels or numbers of a sample; empty if none of any sample is known.
std::span<const float> targets_of(const io::PredictedSamples& samples, std::int64_t sample) {
  if (samples.targets.empty()) return {};
  const std::size_t width = samples.class_names.size();
  return std::span(samples.targets).subspan(static_cast<std::size_t>(sample) * width, width);
}

class ClassRows final : public PredictionRows {
 public:
  ClassRows(const io::SampleStore& data, const io::PredictedSamples& samples, std::int64_t top)
      : data_(data), names_(samples.class_names), top_(std::min(top, std::ssize(names_))) {}

  std::vector<std::string> columns() const override {
    std::vector<std::string> names = {"label", "class", "p1"};
    for (std::int64_t k = 2; k <= top_; ++k)
      names.insert(names.end(), {fmt::format("class{}", k), fmt::format("p{}", k)});
    return names;
  }

  void add_fields(std::int64_t sample, std::span<const float> outputs, std::string& row) const override {
    const std::vector<double> p = probabilities(outputs);
    const auto end = std::back_inserter(row);
    fmt::format_to(end, ",{}", csv_field(class_name(data_, sample)));
    for (const std::int64_t k : best_classes(outputs, top_))
      fmt::format_to(end, ",{},{:.6g}", csv_field(names_[k]), p[static_cast<std::size_t>(k)]);
  }

  void add_values(std::span<const float> outputs, std::vector<float>& values) const override {
    for (const double p : probabilities(outputs)) values.push_back(static_cast<float>(p));
  }

  void add_outputs(std::span<const float> outputs, std::vector<float>& values) const override {
    values.insert(values.end(), outputs.begin(), outputs.end());
  }

 private:
  const io::SampleStore& data_;
  const std::vector<std::string>& names_;
  std::int64_t top_;
};

class LabelRows final : public PredictionRows {
 public:
  explicit LabelRows(const io::PredictedSamples& samples) : samples_(samples) {}

  std::vector<std::string> columns() const override {
    std::vector<std::string> names = {"labels", "predicted"};
    for (const std::string& name : samples_.class_names) names.push_back("p_" + name);
    return names;
  }

  void add_fields(std::int64_t sample, std::span<const float> outputs, std::string& row) const override {
    const std::span<const float> known = targets_of(samples_, sample);
    row += ',' + csv_field(join(known, 0.5F)) + ',' + csv_field(join(outputs, 0));
    for (const float y : outputs) fmt::format_to(std::back_inserter(row), ",{:.6g}", label_probability(y));
  }

  void add_values(std::span<const float> outputs, std::vector<float>& values) const override {
    for (const float y : outputs) values.push_back(static_cast<float>(label_probability(y)));
  }

  void add_outputs(std::span<const float> outputs, std::vector<float>& values) const override {
    values.insert(values.end(), outputs.begin(), outputs.end());
  }

 private:
  // "rain|wind": the names of the labels whose value is above the threshold.
  std::string join(std::span<const float> values, float threshold) const {
    std::string text;
    for (std::size_t k = 0; k < values.size(); ++k)
      if (values[k] > threshold) text += (text.empty() ? "" : "|") + samples_.class_names[k];
    return text;
  }

  const io::PredictedSamples& samples_;
};

// Returns the extents of a field as the imported files have them; empty for other targets.
std::vector<std::int64_t> dims_in_files(const Target& target) {
  std::vector<std::int64_t> dims = target.dims;
  if (target.channel_axis == ChannelAxis::kFirst) std::rotate(dims.begin(), dims.end() - 1, dims.end());
  if (target.channel_axis == ChannelAxis::kNone) dims.pop_back();
  return dims;
}

class NumberRows final : public PredictionRows {
 public:
  NumberRows(const Target& target, const io::PredictedSamples& samples) : target_(target), samples_(samples) {}

  std::vector<std::string> columns() const override {
    std::vector<std::string> names = samples_.class_names;
    if (samples_.targets.empty()) return names;
    for (const std::string& name : samples_.class_names) names.push_back("true_" + name);
    return names;
  }

  // 9 digits give back the same float32.
  void add_fields(std::int64_t sample, std::span<const float> outputs, std::string& row) const override {
    const auto end = std::back_inserter(row);
    for (std::size_t k = 0; k < outputs.size(); ++k) fmt::format_to(end, ",{:.9g}", number_of(target_, k, outputs[k]));
    for (const float target : targets_of(samples_, sample))
      fmt::format_to(end, "{}", std::isnan(target) ? "," : fmt::format(",{:.9g}", target));
  }

  void add_values(std::span<const float> outputs, std::vector<float>& values) const override {
    add_in_order(outputs, values, [&](std::size_t k, float y) { return number_of(target_, k, y); });
  }

  void add_field(std::span<const float> field, std::vector<float>& values) const override {
    add_in_order(field, values, [](std::size_t, float y) { return y; });
  }

  void add_outputs(std::span<const float> outputs, std::vector<float>& values) const override {
    add_values(outputs, values);
  }

 private:
  // Appends number(channel, value) of each value in the order of the files.
  template <typename Number>
  void add_in_order(std::span<const float> field, std::vector<float>& values, const Number& number) const {
    const std::size_t channels = samples_.class_names.size(), pixels = field.size() / channels;
    const bool is_first = target_.channel_axis == ChannelAxis::kFirst;
    for (std::size_t i = 0; i < field.size(); ++i) {
      const std::size_t pixel = is_first ? i % pixels : i / channels, k = is_first ? i / pixels : i % channels;
      values.push_back(number(k, field[pixel * channels + k]));
    }
  }

  const Target& target_;
  const io::PredictedSamples& samples_;
};

}  // namespace

void PredictionRows::add_field(std::span<const float> field, std::vector<float>& values) const {
  values.insert(values.end(), field.begin(), field.end());
}

std::unique_ptr<PredictionRows> make_prediction_rows(const Target& target, const io::SampleStore& data,
                                                     const io::PredictedSamples& samples, std::int64_t top) {
  switch (target.kind) {
    case TargetKind::kLabels:
      return std::make_unique<LabelRows>(samples);
    case TargetKind::kNumbers:
      return std::make_unique<NumberRows>(target, samples);
    default:
      return std::make_unique<ClassRows>(data, samples, top);
  }
}

io::PredictedSamples describe_samples(const io::SampleStore& data, const std::vector<std::string>& class_names,
                                      const Target& target) {
  io::PredictedSamples samples{.kind = target.kind,
                               .class_names = class_names,
                               .names = {},
                               .labels = {},
                               .dims = dims_in_files(target),
                               .channel_axis = target.channel_axis};
  const bool has_targets = data.info().target.kind == target.kind && data.info().class_names == class_names;
  const std::int64_t count = data.info().num_samples;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::string name = data.name(i);
    samples.names.push_back(name.empty() ? fmt::format("{}", i) : name);
  }
  if (target.kind == TargetKind::kClass) {
    std::map<std::string, std::int32_t> position;
    for (std::int64_t k = 0; k < std::ssize(class_names); ++k) position[class_names[k]] = static_cast<std::int32_t>(k);
    for (std::int64_t i = 0; i < count; ++i) {
      const auto found = position.find(class_name(data, i));
      samples.labels.push_back(found == position.end() ? ops::kNoLabel : found->second);
    }
  } else if (target.is_in_record()) {
    samples.appends_targets = has_targets && data.info().target.dims == target.dims;
  } else if (has_targets) {
    samples.targets.resize(static_cast<std::size_t>(count) * class_names.size());
    for (std::int64_t i = 0; i < count; ++i)
      data.read_target(
          i, std::span(samples.targets).subspan(static_cast<std::size_t>(i) * class_names.size(), class_names.size()));
    if (std::ranges::all_of(samples.targets, [](float value) { return std::isnan(value); })) samples.targets.clear();
  }
  return samples;
}

}  // namespace convoy
