/// The data of benchmarks: one batch of random images, texts or numbers, given again and again.
#pragma once

#include <algorithm>
#include <variant>
#include <vector>

#include "convoy/base/random.h"

#include "step/rank_runtime.h"

namespace convoy::bench {

class SyntheticSource final : public BatchSource {
 public:
  /// Makes a batch of the kind that the runtime's network reads. Texts have its length, and every word of its
  /// vocabulary is equally likely.
  explicit SyntheticSource(const RankRuntime& runtime)
      : network_(runtime.plan().spec().network),
        elementwise_(runtime.operations().elementwise()),
        lengths_(network_.micro_batch),
        labels_(network_.micro_batch) {
    if (const auto* image = std::get_if<ImageShape>(&network_.input))
      values_ = draw(image->batch(network_.micro_batch).count(), runtime.device());
    else if (const auto* arrays = std::get_if<ArrayShapes>(&network_.input))
      values_ = draw(arrays->inputs.front().shape.count() * network_.micro_batch, runtime.device());
    else
      draw_texts(text_of(network_));
    targets_ = draw(features::target_spec(network_.target, network_.micro_batch).shape.count(), runtime.device());
    for (std::size_t i = 0; i < labels_.size(); ++i)
      labels_[i] = static_cast<std::int32_t>(static_cast<std::int64_t>(i) % network_.num_classes);
  }

  void load(std::string_view feature, std::int64_t, void* to) override {
    if (feature == features::kTokens) return copy(tokens_, to);
    if (feature == features::kLength) return copy(lengths_, to);
    if (feature == features::kLabel) return copy(labels_, to);
    const bool is_target = feature == features::kTarget;
    const Buffer& from = is_target ? targets_ : values_;
    elementwise_.round_to(is_target ? DataType::kFloat32 : network_.type, from.floats(), to,
                          from.size_bytes() / kFloatBytes);
  }

 private:
  static Buffer draw(std::int64_t count, Device& device) {
    std::vector<float> values(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(random_normal({.seed = 1}, i));
    Buffer buffer(device, count * kFloatBytes);
    device.copy_to_device(buffer.data(), values.data(), buffer.size_bytes());
    return buffer;
  }
  void draw_texts(const TextShape& shape) {
    tokens_.resize(network_.micro_batch * shape.length);
    for (std::size_t i = 0; i < tokens_.size(); ++i)
      tokens_[i] = static_cast<std::int32_t>(random_uniform({.seed = 1}, i) * static_cast<double>(shape.vocabulary));
    std::fill(lengths_.begin(), lengths_.end(), static_cast<std::int32_t>(shape.length));
  }
  static void copy(const std::vector<std::int32_t>& from, void* to) {
    std::copy(from.begin(), from.end(), static_cast<std::int32_t*>(to));
  }

  NetworkSpec network_;
  ops::ElementwiseOps& elementwise_;
  Buffer values_, targets_;  ///< float32, on the device: of the only image or array, and what the network answers
  std::vector<std::int32_t> tokens_, lengths_, labels_;
};

}  // namespace convoy::bench
