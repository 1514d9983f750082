/// Weights of both axes, then columns, then rows.
#include "data/resample.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace convoy {

namespace {

// Weights are multiples of 2^-14 that sum to 1; between the passes values have 8 bits of fraction. 255 * 2^8 * 2^14 is
// below 2^31.
constexpr int kWeightBits = 14, kFractionBits = 8;

void add_weighted(const std::uint16_t* in, std::int32_t weight, std::int64_t count, std::int32_t* sums) {
  for (std::int64_t i = 0; i < count; ++i) sums[i] += weight * in[i];
}

}  // namespace

/// One row of all columns; kChannels at a time.
template <int kChannels>
void Resampler::resample_row(const std::uint8_t* row, const Axis& columns, std::int64_t channels, std::uint16_t* to) {
  constexpr int kShift = kWeightBits - kFractionBits;
  const std::int32_t* weight = columns.weight.data();
  for (const std::int64_t first : columns.first) {
    for (std::int64_t c = 0; c < channels; c += kChannels, to += kChannels) {
      const std::uint8_t* in = row + first * channels + c;
      std::array<std::int32_t, kChannels> sum;
      sum.fill(1 << (kShift - 1));
      for (std::int64_t t = 0; t < columns.taps; ++t, in += channels) {
        for (std::size_t k = 0; k < kChannels; ++k) sum[k] += weight[t] * in[k];
      }
      for (std::size_t k = 0; k < kChannels; ++k) to[k] = static_cast<std::uint16_t>(sum[k] >> kShift);
    }
    weight += columns.taps;
  }
}

Region whole(const ImageShape& image) {
  return {0, 0, static_cast<double>(image.h), static_cast<double>(image.w)};
}

Region centre_square(const ImageShape& image) {
  const auto h = static_cast<double>(image.h), w = static_cast<double>(image.w);
  const double side = std::min(h, w);
  return {(h - side) / 2, (w - side) / 2, side, side};
}

// Output i lies at begin + (i + 1/2) step of the input, whose pixel j covers j to j + 1. The triangle around it reaches
// max(1, step) to both sides.
void Resampler::plan(Axis& axis, std::int64_t in_size, double begin, double length, std::int64_t out_size) {
  const double step = length / static_cast<double>(out_size), reach = std::max(1.0, step);
  axis.taps = std::min(in_size, static_cast<std::int64_t>(std::ceil(2 * reach)) + 1);
  axis.first.resize(static_cast<std::size_t>(out_size));
  axis.weight.assign(static_cast<std::size_t>(out_size * axis.taps), 0);
  std::vector<double>& exact = axis.exact;
  exact.resize(static_cast<std::size_t>(axis.taps));
  for (std::int64_t i = 0; i < out_size; ++i) {
    const double centre = begin + (static_cast<double>(i) + 0.5) * step;
    const auto lowest = static_cast<std::int64_t>(std::floor(centre - reach));
    const std::int64_t first = std::clamp<std::int64_t>(lowest, 0, in_size - axis.taps);
    double sum = 0;
    for (std::size_t t = 0; t < exact.size(); ++t) {
      const double distance = std::abs(static_cast<double>(first) + static_cast<double>(t) + 0.5 - centre) / reach;
      sum += exact[t] = std::max(0.0, 1 - distance);
    }
    std::int32_t* const weight = axis.weight.data() + i * axis.taps;
    std::int32_t rest = 1 << kWeightBits;
    for (std::size_t t = 0; t < exact.size(); ++t) {
      weight[t] = static_cast<std::int32_t>(std::floor(exact[t] / sum * (1 << kWeightBits)));
      rest -= weight[t];
    }
    *std::max_element(weight, weight + axis.taps) += rest;
    axis.first[static_cast<std::size_t>(i)] = first;
  }
  axis.begin = axis.first.front();
  axis.end = axis.first.back() + axis.taps;
}

void Resampler::resample(const ImageView& image, const Region& region, std::int64_t h, std::int64_t w,
                         std::uint8_t* out) {
  const std::int64_t channels = image.shape.c;
  plan(rows_, image.shape.h, region.top, region.height, h);
  plan(columns_, image.shape.w, region.left, region.width, w);

  // between (rows used, w, C)
  between_.resize(static_cast<std::size_t>((rows_.end - rows_.begin) * w * channels));
  for (std::int64_t y = rows_.begin; y < rows_.end; ++y) {
    const std::uint8_t* const row = image.pixels + y * image.shape.w * channels;
    std::uint16_t* const to = between_.data() + (y - rows_.begin) * w * channels;
    if (channels == 3) {
      resample_row<3>(row, columns_, channels, to);
    } else {
      resample_row<1>(row, columns_, channels, to);
    }
  }

  constexpr int kShift = kWeightBits + kFractionBits;
  const std::int64_t row_values = w * channels;
  sums_.resize(static_cast<std::size_t>(row_values));
  for (std::int64_t y = 0; y < h; ++y, out += row_values) {
    const std::uint16_t* in = between_.data() + (rows_.first[static_cast<std::size_t>(y)] - rows_.begin) * row_values;
    std::fill(sums_.begin(), sums_.end(), 1 << (kShift - 1));
    for (std::int64_t t = 0; t < rows_.taps; ++t, in += row_values) {
      const std::int32_t weight = rows_.weight[static_cast<std::size_t>(y * rows_.taps + t)];
      if (weight != 0) add_weighted(in, weight, row_values, sums_.data());
    }
    for (std::int64_t i = 0; i < row_values; ++i)
      out[i] = static_cast<std::uint8_t>(sums_[static_cast<std::size_t>(i)] >> kShift);
  }
}

}  // namespace convoy
