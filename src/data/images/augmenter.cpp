/// Implements the changes of evaluation and training: their random numbers, and the table of normalised bytes.
#include "data/images/augmenter.h"

#include <algorithm>

#include "convoy/base/deviation.h"
#include "convoy/base/error.h"
#include "convoy/params/parameters.h"

#include "data/images/crops.h"

namespace convoy {

AugmentationSpec evaluation_augmentation(const io::ImageInput& input, const io::DatasetInfo& data) {
  if (input.resizes) return {.size = input.shape.h, .short_side = input.short_side};
  return {.size = data.image == input.shape ? 0 : input.shape.h};  // the images of the training were not resized
}

AugmentationSpec training_augmentation(const io::ImageInput& input, const io::DatasetInfo& data,
                                       const Parameters& params) {
  const std::int64_t max = std::min(input.shape.h, input.shape.w) - 1;
  if (params.augment.border == BorderKind::kReflect && params.augment.crop_padding > max)
    refuse("augment.crop_padding = {} with augment.border = reflect: images of {} x {} pixels allow at most {}.",
           params.augment.crop_padding, input.shape.h, input.shape.w, max);
  AugmentationSpec spec = evaluation_augmentation(input, data);
  spec.params = params.augment;
  spec.seed = params.train.seed;
  return spec;
}

Augmenter::Augmenter(const ImageShape& stored, const AugmentationSpec& spec, std::vector<double> mean,
                     std::vector<double> stddev)
    : stored_(stored), image_(spec.size > 0 ? ImageShape{spec.size, spec.size, stored.c} : stored), spec_(spec) {
  if (image_.count() < 1) fail("images of different sizes need a size that they are resized to");
  const auto channels = static_cast<std::size_t>(image_.c);
  if (mean.size() != channels || stddev.size() != channels) {
    fail("images of {} channels, but {} means and {} deviations", channels, mean.size(), stddev.size());
  }
  value_of_.resize(channels * ops::kNumBytes);
  for (std::size_t c = 0; c < channels; ++c) {
    const double scale = divisor_of(stddev[c]);
    for (std::size_t v = 0; v < ops::kNumBytes; ++v) {
      value_of_[c * ops::kNumBytes + v] = static_cast<float>((static_cast<double>(v) / 255.0 - mean[c]) / scale);
    }
  }
}

RandomKey Augmenter::key(Purpose purpose, std::int64_t epoch, std::int64_t sample) const {
  return {spec_.seed, purpose, static_cast<std::uint64_t>(epoch), static_cast<std::uint64_t>(sample)};
}

ops::ImageCut Augmenter::cut(std::int64_t epoch, std::int64_t sample) const {
  const auto below = [&](Purpose purpose, std::uint64_t index, std::int64_t bound) {
    return static_cast<std::int32_t>(
        random_below(key(purpose, epoch, sample), index, static_cast<std::uint64_t>(bound)));
  };
  const AugmentParams& params = spec_.params;
  ops::ImageCut cut;
  if (params.crop == CropKind::kPad && params.crop_padding > 0) {
    const auto padding = static_cast<std::int32_t>(params.crop_padding);
    cut.dy = below(Purpose::kCrop, 0, 2 * padding + 1) - padding;
    cut.dx = below(Purpose::kCrop, 1, 2 * padding + 1) - padding;
  }
  cut.flip = spec_.mirrors ? 1 : params.flip ? below(Purpose::kFlip, 0, 2) : 0;
  if (params.cutout > 0) {
    const auto side = static_cast<std::int32_t>(params.cutout);
    const auto h = static_cast<std::int32_t>(image_.h), w = static_cast<std::int32_t>(image_.w);
    const std::int32_t top = below(Purpose::kCutout, 0, h) - side / 2, left = below(Purpose::kCutout, 1, w) - side / 2;
    cut.hole_top = std::max(top, 0);
    cut.hole_bottom = std::min(top + side, h);
    cut.hole_left = std::max(left, 0);
    cut.hole_right = std::min(left + side, w);
  } else if (params.erase > 0) {
    const PixelBox hole = random_erasing(image_, params.erase, key(Purpose::kErase, epoch, sample));
    cut.hole_top = hole.top;
    cut.hole_bottom = hole.bottom;
    cut.hole_left = hole.left;
    cut.hole_right = hole.right;
  }
  return cut;
}

Augmenter make_augmenter(const io::ImageInput& input, const io::DatasetInfo& data, const AugmentationSpec& spec) {
  if (input.normalizes) return Augmenter(data.image, spec, input.channel_mean, input.channel_stddev);
  const auto channels = static_cast<std::size_t>(input.shape.c);
  return Augmenter(data.image, spec, std::vector<double>(channels, 0.0), std::vector<double>(channels, 1.0));
}

}  // namespace convoy
