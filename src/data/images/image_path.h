/// Makes the features of images, the inputs of a network: pixels and labels, and mixtures of them by mixup and CutMix.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "convoy/data/make_sample_path.h"
#include "convoy/data/sample_path.h"
#include "convoy/io/sample_store.h"

#include "data/draw_mix.h"
#include "data/images/augmenter.h"

namespace convoy {

/// The sample path of images. It gives the features kImage, which threads read ahead of the step, kLabel, and
/// kMixedLabel if the augmentation mixes images.
class ImagePath final : public SamplePath {
 public:
  /// `type` is the storage type of the network's input, and `batch_micro` the number of samples per micro-batch.
  /// `samples` must outlive the path. Throws Error if `augmenter` is for images of another shape than `samples` has.
  ImagePath(const io::SampleStore& samples, Augmenter augmenter, std::int64_t batch_micro, DataType type);

  const io::SampleStore& samples() const { return samples_; }
  const Augmenter& augmenter() const { return augmenter_; }
  std::int64_t batch_micro() const { return batch_micro_; }
  DataType type() const { return type_; }
  bool mixes() const { return augmenter_.spec().params.mixes(); }
  /// Returns with which other sample of the micro-batch sample i is mixed, and how.
  SampleMix mix(const BatchSamples& batch, std::int64_t i) const;

  const std::vector<FeatureSpec>& features() const override { return features_; }
  std::unique_ptr<FeatureReader> open(std::string_view feature, ops::Backend& backend) const override;
  void look_up(std::string_view feature, const BatchSamples& batch, void* to) const override;
  std::string describe(std::int64_t sample) const override;

 private:
  std::int32_t label(const BatchSamples& batch, std::int64_t i) const;

  const io::SampleStore& samples_;
  Augmenter augmenter_;
  std::int64_t batch_micro_;
  DataType type_;
  std::vector<FeatureSpec> features_;
};

std::unique_ptr<SamplePath> make_image_path(const SamplePathSpec& spec);

}  // namespace convoy
