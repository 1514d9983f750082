/// The data of benchmarks: one batch of random images or texts, given again and again.
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
    if (const auto* image = std::get_if<ImageShape>(&network_.input)) {
      draw_images(*image, runtime.device());
    } else {
      draw_texts(text_of(network_));
    }
    for (std::size_t i = 0; i < labels_.size(); ++i)
      labels_[i] = static_cast<std::int32_t>(static_cast<std::int64_t>(i) % network_.num_classes);
  }

  void load(std::string_view feature, std::int64_t, void* to) override {
    if (feature == features::kImage)
      elementwise_.round_to(network_.type, images_.floats(), to, images_.size_bytes() / kFloatBytes);
    if (feature == features::kTokens) copy(tokens_, to);
    if (feature == features::kLength) copy(lengths_, to);
    if (feature == features::kLabel) copy(labels_, to);
  }

 private:
  void draw_images(const ImageShape& shape, Device& device) {
    std::vector<float> images(shape.batch(network_.micro_batch).count());
    for (std::size_t i = 0; i < images.size(); ++i) images[i] = static_cast<float>(random_normal({.seed = 1}, i));
    images_ = Buffer(device, std::ssize(images) * kFloatBytes);
    device.copy_to_device(images_.data(), images.data(), images_.size_bytes());
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
  Buffer images_;  ///< float32, on the device
  std::vector<std::int32_t> tokens_, lengths_, labels_;
};

}  // namespace convoy::bench
