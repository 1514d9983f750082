/// Draws, and the table of normalised bytes.
#include <algorithm>

#include "convoy/base/error.h"
#include "convoy/data/loader.h"

namespace convoy {

Augmenter::Augmenter(const ImageShape& stored, const AugmentationSpec& spec, std::vector<double> mean,
                     std::vector<double> deviation)
    : stored_(stored), image_(spec.size > 0 ? ImageShape{spec.size, spec.size, stored.c} : stored), spec_(spec) {
  if (image_.count() < 1) fail("images of different sizes need one to be brought to");
  const auto channels = static_cast<std::size_t>(image_.c);
  if (mean.size() != channels || deviation.size() != channels) {
    fail("images of {} channels, but {} means and {} deviations", channels, mean.size(), deviation.size());
  }
  value_of_.resize(channels * ops::kNumBytes);
  for (std::size_t c = 0; c < channels; ++c) {
    const double scale = deviation[c] > 0 ? deviation[c] : 1.0;  // a channel that never varies
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
  ops::ImageCut cut;
  if (spec_.crop == CropKind::kPad && spec_.crop_padding > 0) {
    const auto padding = static_cast<std::int32_t>(spec_.crop_padding);
    cut.dy = below(Purpose::kCrop, 0, 2 * padding + 1) - padding;
    cut.dx = below(Purpose::kCrop, 1, 2 * padding + 1) - padding;
  }
  cut.flip = spec_.flip == Flip::kRandom ? below(Purpose::kFlip, 0, 2) : spec_.flip == Flip::kAlways ? 1 : 0;
  if (spec_.cutout > 0) {
    const auto side = static_cast<std::int32_t>(spec_.cutout);
    const auto h = static_cast<std::int32_t>(image_.h), w = static_cast<std::int32_t>(image_.w);
    const std::int32_t top = below(Purpose::kCutout, 0, h) - side / 2, left = below(Purpose::kCutout, 1, w) - side / 2;
    cut.hole_top = std::max(top, 0);
    cut.hole_bottom = std::min(top + side, h);
    cut.hole_left = std::max(left, 0);
    cut.hole_right = std::min(left + side, w);
  }
  return cut;
}

}  // namespace convoy
