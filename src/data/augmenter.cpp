/// Crop, flip and normalise in one pass over the output's rows.
#include <algorithm>

#include "convoy/base/error.h"
#include "convoy/base/random.h"
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

Augmenter::Augmenter(const ImageShape& image, const AugmentationSpec& spec, std::vector<double> mean,
                     std::vector<double> deviation)
    : image_(image), spec_(spec) {
  const auto channels = static_cast<std::size_t>(image.c);
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

ops::ImageCut Augmenter::cut(std::int64_t epoch, std::int64_t sample) const {
  const auto key = [&](Purpose purpose) {
    return RandomKey{spec_.seed, purpose, static_cast<std::uint64_t>(epoch), static_cast<std::uint64_t>(sample)};
  };
  ops::ImageCut cut;
  if (spec_.crop_padding > 0) {
    const auto padding = static_cast<std::int32_t>(spec_.crop_padding);
    const auto offsets = static_cast<std::uint64_t>(2 * padding + 1);
    cut.dy = static_cast<std::int32_t>(random_below(key(Purpose::kCrop), 0, offsets)) - padding;
    cut.dx = static_cast<std::int32_t>(random_below(key(Purpose::kCrop), 1, offsets)) - padding;
  }
  cut.flip = spec_.flip && random_below(key(Purpose::kFlip), 0, 2) == 1 ? 1 : 0;
  return cut;
}

void Augmenter::apply(const std::uint8_t* image, std::int64_t epoch, std::int64_t sample, float* out) const {
  const ops::ImageCut crop = cut(epoch, sample);
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
