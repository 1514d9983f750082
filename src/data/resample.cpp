/// Weights of both axes, then columns, then rows.
#include "data/resample.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace convoy {

namespace {

// Weights are multiples of 2^-14 that sum to 1; between the passes values have 8 bits of fraction. 255 * 2^8 * 2^14 is
// below 2^31. The first pass adds whole numbers up to 255 * 2^14 < 2^24, all of which a float holds: it is exact, and
// every processor has vectors of floats.
constexpr int kWeightBits = 14, kFractionBits = 8;

/// out[4 * i + r] = in[r][i]
void interleave(const std::array<const std::uint8_t*, 4>& in, std::span<std::uint8_t> out) {
  const auto [a, b, c, d] = in;
  for (std::size_t i = 0; i < out.size() / 4; ++i) {
    out[4 * i] = a[i];
    out[4 * i + 1] = b[i];
    out[4 * i + 2] = c[i];
    out[4 * i + 3] = d[i];
  }
}

void add_weighted(const std::uint16_t* in, std::uint16_t weight, std::int64_t count, std::uint32_t* sums) {
  for (std::int64_t i = 0; i < count; ++i) sums[i] += std::uint32_t{weight} * in[i];
}

}  // namespace

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
    float* const weight = axis.weight.data() + i * axis.taps;
    std::int32_t rest = 1 << kWeightBits;
    for (std::size_t t = 0; t < exact.size(); ++t) {
      const auto down = static_cast<std::int32_t>(std::floor(exact[t] / sum * (1 << kWeightBits)));
      weight[t] = static_cast<float>(down);
      rest -= down;
    }
    *std::max_element(weight, weight + axis.taps) += static_cast<float>(rest);
    axis.first[static_cast<std::size_t>(i)] = first;
  }
}

Window Resampler::plan(const ImageShape& picture, const Region& region, std::int64_t h, std::int64_t w) {
  plan(rows_, picture.h, region.top, region.height, h);
  plan(columns_, picture.w, region.left, region.width, w);
  return {rows_.begin(), columns_.begin(), rows_.end(), columns_.end()};
}

void Resampler::resample(const ImageView& image, std::uint8_t* out) {
  // between (rows used, w, C)
  const std::int64_t row_values = columns_.size() * image.shape.c;
  between_.resize(static_cast<std::size_t>((rows_.end() - rows_.begin()) * row_values));
  for (std::int64_t y = rows_.begin(); y < rows_.end(); y += 4) {
    load_rows(image, y);
    if (image.shape.c == 3) {
      add_columns<3>(image.shape.c);
    } else {
      add_columns<1>(image.shape.c);
    }
    store_rows(y);
  }

  constexpr int kShift = kWeightBits + kFractionBits;
  sums_.resize(static_cast<std::size_t>(row_values));
  const float* weight = rows_.weight.data();
  for (const std::int64_t first : rows_.first) {
    const std::uint16_t* in = between_.data() + (first - rows_.begin()) * row_values;
    std::fill(sums_.begin(), sums_.end(), 1u << (kShift - 1));
    for (std::int64_t t = 0; t < rows_.taps; ++t, ++weight, in += row_values) {
      if (*weight != 0) add_weighted(in, static_cast<std::uint16_t>(*weight), row_values, sums_.data());
    }
    for (const std::uint32_t sum : sums_) *out++ = static_cast<std::uint8_t>(sum >> kShift);
  }
}

/// What is used of rows y to y + 3, a row in a lane; the last row once more in place of those behind it.
void Resampler::load_rows(const ImageView& image, std::int64_t y) {
  std::array<const std::uint8_t*, 4> rows;
  for (std::int64_t r = 0; r < 4; ++r) {
    const std::int64_t row = std::min(y + r, rows_.end() - 1) - image.top;
    rows[static_cast<std::size_t>(r)] =
        image.pixels + (row * image.shape.w + columns_.begin() - image.left) * image.shape.c;
  }
  in_.resize(static_cast<std::size_t>((columns_.end() - columns_.begin()) * image.shape.c));
  bytes_.resize(4 * in_.size());
  interleave(rows, bytes_);
  for (std::size_t i = 0; i < in_.size(); ++i)
    for (std::size_t r = 0; r < 4; ++r) in_[i].of[r] = bytes_[4 * i + r];
}

/// Sums of four rows at once, kChannels at a time.
template <int kChannels>
void Resampler::add_columns(std::int64_t channels) {
  constexpr float kHalf = 1 << (kWeightBits - kFractionBits - 1);
  const std::int64_t taps = columns_.taps, begin = columns_.begin();
  out_.resize(static_cast<std::size_t>(columns_.size() * channels));
  const float* weight = columns_.weight.data();
  FourRows* out = out_.data();
  for (const std::int64_t first : columns_.first) {
    for (std::int64_t c = 0; c < channels; c += kChannels) {
      const FourRows* in = in_.data() + (first - begin) * channels + c;
      std::array<FourRows, kChannels> sum;
      sum.fill({kHalf, kHalf, kHalf, kHalf});
      for (std::int64_t t = 0; t < taps; ++t, in += channels) {
        for (std::size_t k = 0; k < kChannels; ++k)
          for (std::size_t r = 0; r < 4; ++r) sum[k].of[r] += weight[t] * in[k].of[r];
      }
      for (const FourRows& s : sum) *out++ = s;
    }
    weight += taps;
  }
}

/// Of rows y to y + 3 those that there are.
void Resampler::store_rows(std::int64_t y) {
  const auto num_rows = static_cast<std::size_t>(std::min<std::int64_t>(4, rows_.end() - y));
  std::uint16_t* to = between_.data() + (y - rows_.begin()) * static_cast<std::int64_t>(out_.size());
  for (std::size_t r = 0; r < num_rows; ++r, to += out_.size()) {
    for (std::size_t i = 0; i < out_.size(); ++i)
      to[i] = static_cast<std::uint16_t>(static_cast<std::int32_t>(out_[i].of[r]) >> (kWeightBits - kFractionBits));
  }
}

}  // namespace convoy
