/// Crop, flip and normalise in one pass over the output's rows.
#include <algorithm>

#include "convoy/base/error.h"
#include "convoy/data/loader.h"

namespace convoy {

namespace {

constexpr std::size_t kNumBytes = 256;

/// Pixels one after the other, forwards or backwards in the source; kChannels = 0: any number, given by `channels`.
template <int kChannels>
void write_pixels(const std::uint8_t* source, std::int64_t step, std::int64_t num_pixels, std::int64_t channels,
                  const float* value_of, float* out) {
  const std::int64_t num_channels = kChannels > 0 ? kChannels : channels;
  for (std::int64_t x = 0; x < num_pixels; ++x, source += step, out += num_channels) {
    for (std::int64_t c = 0; c < num_channels; ++c) {
      out[c] = value_of[static_cast<std::size_t>(c) * kNumBytes + source[c]];
    }
  }
}

}  // namespace

Augmenter::Augmenter(const ImageShape& stored, const AugmentationSpec& spec, std::vector<double> mean,
                     std::vector<double> deviation)
    : stored_(stored), image_(spec.size > 0 ? ImageShape{spec.size, spec.size, stored.c} : stored), spec_(spec) {
  if (image_.count() < 1) fail("images of different sizes need one to be brought to");
  const auto channels = static_cast<std::size_t>(image_.c);
  if (mean.size() != channels || deviation.size() != channels) {
    fail("images of {} channels, but {} means and {} deviations", channels, mean.size(), deviation.size());
  }
  value_of_.resize(channels * kNumBytes);
  for (std::size_t c = 0; c < channels; ++c) {
    const double scale = deviation[c] > 0 ? deviation[c] : 1.0;  // a channel that never varies
    for (std::size_t v = 0; v < kNumBytes; ++v) {
      value_of_[c * kNumBytes + v] = static_cast<float>((static_cast<double>(v) / 255.0 - mean[c]) / scale);
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

void Augmenter::apply(const std::uint8_t* image, const ops::ImageCut& crop, float* const begin) const {
  float* out = begin;
  // Columns [first, last) of the cropped row come from the image; flipped, they stand mirrored.
  const std::int64_t first = std::clamp<std::int64_t>(-crop.dx, 0, image_.w);
  const std::int64_t last = std::clamp<std::int64_t>(image_.w - crop.dx, first, image_.w);
  const std::int64_t black_left = crop.flip != 0 ? image_.w - last : first;
  const std::int64_t black_right = image_.w - black_left - (last - first);
  const std::int64_t step = crop.flip != 0 ? -image_.c : image_.c;
  const std::int64_t start = crop.flip != 0 ? last - 1 + crop.dx : first + crop.dx;  // the image's column written first

  for (std::int64_t y = 0; y < image_.h; ++y, out += image_.w * image_.c) {
    const std::int64_t row = y + crop.dy;
    if (row < 0 || row >= image_.h || first == last) {
      write_black(image_.w, out);
      continue;
    }
    write_black(black_left, out);
    write_row(image + (row * image_.w + start) * image_.c, step, last - first, out + black_left * image_.c);
    write_black(black_right, out + (image_.w - black_right) * image_.c);
  }
  write_hole(crop, begin);
}

void Augmenter::write_hole(const ops::ImageCut& cut, float* out) const {
  for (std::int64_t y = cut.hole_top; y < cut.hole_bottom; ++y)
    std::fill(out + (y * image_.w + cut.hole_left) * image_.c, out + (y * image_.w + cut.hole_right) * image_.c, 0.0f);
}

void Augmenter::apply_black(float* out) const {
  write_black(image_.h * image_.w, out);
}

void Augmenter::write_row(const std::uint8_t* source, std::int64_t step, std::int64_t num_pixels, float* out) const {
  const float* const value_of = value_of_.data();
  switch (image_.c) {
    case 1:
      return write_pixels<1>(source, step, num_pixels, 1, value_of, out);
    case 3:
      return write_pixels<3>(source, step, num_pixels, 3, value_of, out);
    default:
      return write_pixels<0>(source, step, num_pixels, image_.c, value_of, out);
  }
}

void Augmenter::write_black(std::int64_t num_pixels, float* out) const {
  for (std::int64_t x = 0; x < num_pixels; ++x) {
    for (std::int64_t c = 0; c < image_.c; ++c) *out++ = value_of_[static_cast<std::size_t>(c) * kNumBytes];
  }
}

}  // namespace convoy
