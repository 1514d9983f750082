/// Something to train on that is the same on every grid.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "convoy/base/random.h"
#include "convoy/ops/embedding.h"
#include "convoy/ops/gather.h"
#include "convoy/ops/softmax_cross_entropy.h"

#include "step/rank_runtime.h"

namespace convoy::test {

/// Target k of the sample with this index in the step. Sample 1 has no target, and sample 4 lacks the first.
inline float fixed_target(const Target& target, std::int64_t sample, std::int64_t k) {
  if (sample == 1 || (sample == 4 && k == 0)) return std::numeric_limits<float>::quiet_NaN();
  if (target.kind == TargetKind::kLabels) return sample * (k + 1) % 3 == 0 ? 1.0f : 0.0f;
  return 2.0f + 0.75f * static_cast<float>(sample * (2 * k + 3) % 7) * static_cast<float>(k + 1);
}

/// Value i of the images of a micro-batch.
inline float fixed_pixel(std::uint64_t seed, std::int64_t micro_batch, std::int64_t i) {
  const RandomKey key{.seed = seed, .item = static_cast<std::uint64_t>(micro_batch)};
  return static_cast<float>(random_normal(key, static_cast<std::uint64_t>(i)));
}

/// Images or texts, and labels or targets, by their index in the step, the same at every step: the loss falls fast.
class FixedBatch final : public BatchSource {
 public:
  FixedBatch(RankRuntime& runtime, std::uint64_t seed) : FixedBatch(runtime, seed, runtime.micro_batches().begin) {}
  /// The source's first micro-batch is this one of the step.
  FixedBatch(RankRuntime& runtime, std::uint64_t seed, std::int64_t first)
      : runtime_(runtime), spec_(runtime.plan().spec()), seed_(seed), first_(first) {}

  void load(std::string_view feature, std::int64_t micro_batch, void* to) override {
    if (feature == features::kImage) load_images(micro_batch, to);
    if (feature == features::kTokens || feature == features::kLength) load_texts(feature, micro_batch, to);
    if (feature.starts_with("pair_") || feature.starts_with("marked_") || feature.starts_with("masked_") ||
        feature == features::kNextSentence)
      load_bert(feature, micro_batch, to);
    if (feature == features::kLabel) load_labels(micro_batch, static_cast<std::int32_t*>(to));
    if (feature == features::kTarget) load_targets(micro_batch, to);
  }

 private:
  void load_images(std::int64_t micro_batch, void* x) {
    const std::int64_t count = spec_.batch.micro * std::get<ImageShape>(spec_.network.input).count();
    const Buffer values(runtime_.device(), count * kFloatBytes);
    for (std::int64_t i = 0; i < count; ++i) values.floats()[i] = fixed_pixel(seed_, index_in_step(micro_batch), i);
    runtime_.operations().elementwise().round_to(spec_.network.type, values.floats(), x, count);
  }
  void load_texts(std::string_view feature, std::int64_t micro_batch, void* to) {
    const auto [length, vocabulary] = std::get<TextShape>(spec_.network.input);
    std::vector<std::int32_t> values;
    for (std::int64_t i = 0; i < spec_.batch.micro; ++i) {
      const std::int64_t sample = index_in_step(micro_batch) * spec_.batch.micro + i,
                         num_words = 1 + sample * 5 % length;
      if (feature == features::kLength) values.push_back(static_cast<std::int32_t>(num_words));
      for (std::int64_t t = 0; feature == features::kTokens && t < length; ++t)
        values.push_back(t < num_words ? static_cast<std::int32_t>((sample * 3 + t * t) % vocabulary) : ops::kNoToken);
    }
    const std::int64_t bytes = std::ssize(values) * static_cast<std::int64_t>(sizeof(std::int32_t));
    runtime_.device().copy_to_device(to, values.data(), bytes);
  }
  /// Every second word of a text is masked, as far as there is room.
  void load_bert(std::string_view feature, std::int64_t micro_batch, void* to) {
    const auto [length, vocabulary] = std::get<TextShape>(spec_.network.input);
    std::vector<std::int32_t> values;
    const auto add = [&](std::int64_t value) { values.push_back(static_cast<std::int32_t>(value)); };
    for (std::int64_t i = 0; i < spec_.batch.micro; ++i) {
      const std::int64_t sample = index_in_step(micro_batch) * spec_.batch.micro + i,
                         num_words = 3 + sample * 5 % (length - 2);
      if (feature.ends_with("_length")) add(num_words);
      if (feature == features::kNextSentence) add(sample % 2);
      for (std::int64_t t = 0; feature.ends_with("_tokens") && t < length; ++t)
        add(t < num_words ? (sample * 3 + t * t) % vocabulary : ops::kNoToken);
      for (std::int64_t t = 0; feature.ends_with("_segments") && t < length; ++t)
        add(t >= num_words ? ops::kNoToken : 2 * t / num_words);
      for (std::int64_t k = 0; feature.starts_with("masked_") && k < features::max_masked_words(length); ++k) {
        const bool is_there = 2 * k + 1 < num_words;
        if (feature == features::kMaskedPositions) add(is_there ? 2 * k + 1 : ops::kNoPosition);
        if (feature == features::kMaskedWords) add(is_there ? (sample + 7 * k) % vocabulary : ops::kNoLabel);
      }
    }
    const std::int64_t bytes = std::ssize(values) * static_cast<std::int64_t>(sizeof(std::int32_t));
    runtime_.device().copy_to_device(to, values.data(), bytes);
  }
  void load_labels(std::int64_t micro_batch, std::int32_t* labels) const {
    const std::int64_t first = index_in_step(micro_batch) * spec_.batch.micro;
    for (std::int64_t i = 0; i < spec_.batch.micro; ++i)
      labels[i] = static_cast<std::int32_t>((first + i) * 7 % spec_.network.num_classes);
  }
  void load_targets(std::int64_t micro_batch, void* to) const {
    const Target& target = spec_.network.target;
    const std::int64_t first = index_in_step(micro_batch) * spec_.batch.micro;
    std::vector<float> values;
    for (std::int64_t i = 0; i < spec_.batch.micro; ++i)
      for (std::int64_t k = 0; k < target.shape.c; ++k) values.push_back(fixed_target(target, first + i, k));
    runtime_.device().copy_to_device(to, values.data(), std::ssize(values) * kFloatBytes);
  }
  std::int64_t index_in_step(std::int64_t micro_batch) const { return first_ + micro_batch; }

  RankRuntime& runtime_;
  RuntimeSpec spec_;
  std::uint64_t seed_;
  std::int64_t first_;
};

}  // namespace convoy::test
