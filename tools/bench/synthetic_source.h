/// One batch of random images, given again and again: what benchmarks train on.
#pragma once

#include <algorithm>
#include <vector>

#include "convoy/base/random.h"

#include "step/rank_runtime.h"

namespace convoy::bench {

class SyntheticSource final : public BatchSource {
 public:
  /// Images and classes of the runtime's network.
  explicit SyntheticSource(const RankRuntime& runtime)
      : network_(runtime.plan().spec().network),
        elementwise_(runtime.operations().elementwise()),
        count_(image_of(network_).batch(network_.micro_batch).count()),
        images_(runtime.device(), count_ * kFloatBytes),
        labels_(network_.micro_batch) {
    std::vector<float> images(count_);
    for (std::size_t i = 0; i < images.size(); ++i) images[i] = static_cast<float>(random_normal({.seed = 1}, i));
    runtime.device().copy_to_device(images_.data(), images.data(), images_.size_bytes());
    for (std::size_t i = 0; i < labels_.size(); ++i)
      labels_[i] = static_cast<std::int32_t>(static_cast<std::int64_t>(i) % network_.num_classes);
  }

  void load(std::string_view feature, std::int64_t, void* to) override {
    if (feature == features::kImage) elementwise_.round_to(network_.type, images_.floats(), to, count_);
    if (feature == features::kLabel) std::copy(labels_.begin(), labels_.end(), static_cast<std::int32_t*>(to));
  }

 private:
  NetworkSpec network_;
  ops::ElementwiseOps& elementwise_;
  std::int64_t count_;
  Buffer images_;  ///< float32, on the device
  std::vector<std::int32_t> labels_;
};

}  // namespace convoy::bench
