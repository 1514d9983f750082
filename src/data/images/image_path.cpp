/// Implements the features of images, and which images are mixed.
#include "data/images/image_path.h"

#include "convoy/base/error.h"
#include "convoy/base/features.h"
#include "convoy/base/text.h"
#include "convoy/ops/softmax_cross_entropy.h"
#include "convoy/params/parameters.h"

namespace convoy {

ImagePath::ImagePath(const io::SampleStore& samples, Augmenter augmenter, std::int64_t batch_micro, DataType type)
    : samples_(samples), augmenter_(std::move(augmenter)), batch_micro_(batch_micro), type_(type) {
  if (augmenter_.stored() != samples.info().image)
    fail("images of {} cannot be augmented as {}", to_string(samples.info().image), to_string(augmenter_.stored()));
  features_ = {
      {.name = features::kImage, .spec = {augmenter_.image().batch(batch_micro), type}, .read_ahead = true},
      {.name = features::kLabel, .spec = features::label_spec(batch_micro)},
  };
  if (mixes()) features_.push_back({.name = features::kMixedLabel, .spec = features::mixed_label_spec(batch_micro)});
}

std::unique_ptr<FeatureReader> ImagePath::open(std::string_view feature, ops::Backend& backend) const {
  if (feature != features::kImage) fail("images: {} is not read ahead", feature);
  return make_image_reader(*this, backend);
}

SampleMix ImagePath::mix(const BatchSamples& batch, std::int64_t i) const {
  const SampleMix nothing{.image = {.partner = static_cast<std::int32_t>(i)}};
  const auto& samples = batch.samples;
  if (samples[static_cast<std::size_t>(i)] == kNoSample) return nothing;
  const SampleMix mix = draw_mix(augmenter_.spec(), augmenter_.image(), batch, i);
  return samples[static_cast<std::size_t>(mix.image.partner)] == kNoSample ? nothing : mix;
}

std::int32_t ImagePath::label(const BatchSamples& batch, std::int64_t i) const {
  const std::int64_t sample = batch.samples[static_cast<std::size_t>(i)];
  return sample == kNoSample ? ops::kNoLabel : samples_.label(sample);
}

void ImagePath::look_up(std::string_view feature, const BatchSamples& batch, void* to) const {
  const std::int64_t num = std::ssize(batch.samples);
  if (feature == features::kLabel) {
    auto* const labels = static_cast<std::int32_t*>(to);
    for (std::int64_t i = 0; i < num; ++i) labels[i] = label(batch, i);
  } else if (feature == features::kMixedLabel) {
    auto* const mixed = static_cast<ops::MixedLabel*>(to);
    for (std::int64_t i = 0; i < num; ++i) {
      const SampleMix other = mix(batch, i);
      mixed[i] = {.label = label(batch, other.image.partner), .share = other.label_share};
    }
  } else {
    fail("images: {} is not looked up", feature);
  }
}

std::string ImagePath::describe(std::int64_t sample) const {
  return fmt::format("sample {} ('{}') of the images from {}", sample, excerpt(samples_.name(sample)),
                     excerpt(samples_.info().source));
}

std::unique_ptr<SamplePath> make_image_path(const SamplePathSpec& spec) {
  const io::DatasetInfo& data = spec.samples.info();
  AugmentationSpec augmentation = spec.view == SampleView::kTraining
                                      ? training_augmentation(spec.metadata.image(), data, spec.params)
                                      : evaluation_augmentation(spec.metadata.image(), data);
  if (spec.view == SampleView::kMirrored) augmentation.flip = Flip::kAlways;
  return std::make_unique<ImagePath>(spec.samples, make_augmenter(spec.metadata.image(), data, augmentation),
                                     spec.params.batch.micro, spec.type);
}

}  // namespace convoy
