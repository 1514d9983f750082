/// All but saturation and sharpness are tables of 256 values, one for each channel. Compiled without fused products
/// (CMakeLists.txt): rounding twice is part of the definition.
#include "data/images/colour_edits.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>

#include "data/images/decode_image.h"

namespace convoy::colour_edits {

namespace {

using Table = std::array<std::uint8_t, 256>;
using Counts = std::array<std::int64_t, 256>;

std::uint8_t blend(std::uint8_t plain, std::uint8_t value, float factor) {
  const float difference = static_cast<float>(int{value} - int{plain});
  const float blended = static_cast<float>(plain) + factor * difference;
  return static_cast<std::uint8_t>(std::clamp(blended, 0.0F, 255.0F));
}

template <typename ByteOf>
Table table_of(const ByteOf& byte_of) {
  Table table;
  for (std::size_t v = 0; v < table.size(); ++v) table[v] = byte_of(static_cast<int>(v));
  return table;
}

void map_all(const Pixels& image, const Table& table) {
  const std::int64_t count = image.shape.count();
  for (std::int64_t i = 0; i < count; ++i) image.data[i] = table[image.data[i]];
}

/// Changes each channel by the table that table_of_counts makes from the counts of its values.
template <typename TableOfCounts>
void map_channels(const Pixels& image, const TableOfCounts& table_of_counts) {
  const std::int64_t count = image.shape.count(), channels = image.shape.c;
  for (std::int64_t c = 0; c < channels; ++c) {
    Counts counts{};
    for (std::int64_t i = c; i < count; i += channels) ++counts[image.data[i]];
    const Table table = table_of_counts(counts);
    for (std::int64_t i = c; i < count; i += channels) image.data[i] = table[image.data[i]];
  }
}

std::uint8_t rounded_mean_luma(const Pixels& image) {
  const std::int64_t num_pixels = image.shape.h * image.shape.w;
  std::int64_t sum = 0;
  if (image.shape.c == 3) {
    for (const std::uint8_t* p = image.data; p != image.data + 3 * num_pixels; p += 3) sum += luma(p[0], p[1], p[2]);
  } else {
    sum = std::accumulate(image.data, image.data + num_pixels, std::int64_t{0});
  }
  return static_cast<std::uint8_t>((2 * sum + num_pixels) / (2 * num_pixels));
}

std::uint8_t same(int v) {
  return static_cast<std::uint8_t>(v);
}

// Computes thirteenths, rounded: 13 is odd, so no value lies in the middle of two.
void smooth(const Pixels& image, std::uint8_t* out) {
  const std::int64_t row = image.shape.w * image.shape.c, c = image.shape.c;
  std::copy_n(image.data, image.shape.count(), out);
  for (std::int64_t y = 1; y < image.shape.h - 1; ++y) {
    const std::uint8_t* const here = image.data + y * row;
    for (std::int64_t i = c; i < row - c; ++i) {
      int sum = 4 * here[i];
      for (const std::uint8_t* p : {here - row, here, here + row}) sum += p[i - c] + p[i] + p[i + c];
      out[y * row + i] = static_cast<std::uint8_t>((2 * sum + 13) / 26);
    }
  }
}

}  // namespace

void brightness(const Pixels& image, double factor) {
  if (factor == 1) return;
  map_all(image, table_of([&](int v) { return blend(0, same(v), static_cast<float>(factor)); }));
}

void contrast(const Pixels& image, double factor) {
  if (factor == 1) return;
  const std::uint8_t mean = rounded_mean_luma(image);
  map_all(image, table_of([&](int v) { return blend(mean, same(v), static_cast<float>(factor)); }));
}

void saturation(const Pixels& image, double factor) {
  if (factor == 1 || image.shape.c != 3) return;
  const auto f = static_cast<float>(factor);
  std::uint8_t* p = image.data;
  for (std::int64_t i = 0; i < image.shape.h * image.shape.w; ++i, p += 3) {
    const std::uint8_t grey = luma(p[0], p[1], p[2]);
    for (std::int64_t c = 0; c < 3; ++c) p[c] = blend(grey, p[c], f);
  }
}

void sharpness(const Pixels& image, double factor, std::vector<std::uint8_t>& plain) {
  if (factor == 1) return;
  const std::int64_t count = image.shape.count();
  plain.resize(static_cast<std::size_t>(count));
  smooth(image, plain.data());
  const std::uint8_t* const smoothed = plain.data();
  const auto f = static_cast<float>(factor);
  for (std::int64_t i = 0; i < count; ++i) image.data[i] = blend(smoothed[i], image.data[i], f);
}

void posterize(const Pixels& image, int bits) {
  map_all(image, table_of([&](int v) { return same(v >> (8 - bits) << (8 - bits)); }));
}

void solarize(const Pixels& image, double threshold) {
  map_all(image, table_of([&](int v) { return same(v < threshold ? v : 255 - v); }));
}

void stretch_contrast(const Pixels& image) {
  map_channels(image, [](const Counts& counts) {
    const auto is_there = [](std::int64_t n) { return n > 0; };
    const auto min = std::find_if(counts.begin(), counts.end(), is_there) - counts.begin();
    const auto max = counts.rend() - std::find_if(counts.rbegin(), counts.rend(), is_there) - 1;
    if (max <= min) return table_of(same);
    const double scale = 255.0 / static_cast<double>(max - min), shift = -static_cast<double>(min) * scale;
    return table_of([&](int v) { return static_cast<std::uint8_t>(std::clamp(v * scale + shift, 0.0, 255.0)); });
  });
}

void equalize(const Pixels& image) {
  const std::int64_t num_pixels = image.shape.h * image.shape.w;
  map_channels(image, [&](const Counts& counts) {
    const std::int64_t largest = *std::find_if(counts.rbegin(), counts.rend(), [](std::int64_t n) { return n > 0; });
    const std::int64_t step = (num_pixels - largest) / 255;  // pixels for each value of the result
    if (step == 0) return table_of(same);
    std::int64_t before = step / 2;
    return table_of([&](int v) {
      const std::int64_t value = std::min<std::int64_t>(before / step, 255);
      before += counts[static_cast<std::size_t>(v)];
      return static_cast<std::uint8_t>(value);
    });
  });
}

}  // namespace convoy::colour_edits
