/// Computes the weights of both axes; then each row of the result from the rows that it depends on, and its columns
/// from theirs.
#include "data/images/resample.h"

#include <algorithm>
#include <cmath>

#include "data/images/pixel_kernels.h"

namespace convoy {

namespace {

// Weights are multiples of 2^-14: both sums are exact, so that the bits are the same on every processor.
constexpr double kUnit = 0x1p-14;

}  // namespace

Region whole(const ImageShape& image) {
  return {0, 0, static_cast<double>(image.h), static_cast<double>(image.w)};
}

PixelGrid grid_over(const Region& region, std::int64_t h, std::int64_t w) {
  return {.rows = {.begin = region.top, .step = region.height / static_cast<double>(h)},
          .columns = {.begin = region.left, .step = region.width / static_cast<double>(w)}};
}

// The triangle around a pixel of the result reaches max(1, step) to both sides: over ceil(2 reach) centres of pixels at
// most.
void Resampler::plan(Axis& axis, std::int64_t in_size, const AxisGrid& grid, std::int64_t out_size) {
  const double reach = std::max(1.0, grid.step);
  axis.taps = std::min(in_size, static_cast<std::int64_t>(std::ceil(2 * reach)));
  axis.first.resize(static_cast<std::size_t>(out_size));
  axis.weight.assign(static_cast<std::size_t>(out_size * axis.taps), 0);
  std::vector<double>& exact = axis.exact;
  exact.resize(static_cast<std::size_t>(axis.taps));
  for (std::int64_t i = 0; i < out_size; ++i) {
    const double centre = grid.begin + (static_cast<double>(grid.first + i) + 0.5) * grid.step;
    const auto lowest = static_cast<std::int64_t>(std::floor(centre - reach + 0.5));
    const std::int64_t first = std::clamp<std::int64_t>(lowest, 0, in_size - axis.taps);
    double sum = 0;
    for (std::size_t t = 0; t < exact.size(); ++t) {
      const double distance = std::abs(static_cast<double>(first) + static_cast<double>(t) + 0.5 - centre) / reach;
      sum += exact[t] = std::max(0.0, 1 - distance);
    }
    double* const weight = axis.weight.data() + i * axis.taps;
    double rest = 1;
    for (std::size_t t = 0; t < exact.size(); ++t) {
      weight[t] = std::floor(exact[t] / sum / kUnit) * kUnit;
      rest -= weight[t];
    }
    *std::max_element(weight, weight + axis.taps) += rest;
    axis.first[static_cast<std::size_t>(i)] = first;
  }
}

Window Resampler::plan(const ImageShape& picture, const PixelGrid& grid, std::int64_t h, std::int64_t w) {
  plan(rows_, picture.h, grid.rows, h);
  plan(columns_, picture.w, grid.columns, w);
  return {rows_.begin(), columns_.begin(), rows_.end(), columns_.end()};
}

void Resampler::resample(const ImageView& image, std::uint8_t* out) {
  const std::int64_t channels = image.shape.c, row_bytes = image.shape.w * channels;
  const std::int64_t num_used = (columns_.end() - columns_.begin()) * channels;
  between_.resize(static_cast<std::size_t>(num_used + pixel_kernels::kSlack));
  sums_.resize(static_cast<std::size_t>(columns_.size() * channels + pixel_kernels::kSlack));
  const pixel_kernels::Columns columns{.first = columns_.first.data(),
                                       .num_pixels = columns_.size(),
                                       .begin = columns_.begin(),
                                       .channels = channels,
                                       .weights = {columns_.weight.data(), columns_.taps}};
  widened_.resize(static_cast<std::size_t>(rows_.taps * num_used));
  const double* weight = rows_.weight.data();
  std::int64_t next = rows_.begin();
  for (const std::int64_t first : rows_.first) {
    for (next = std::max(next, first); next < first + rows_.taps; ++next)
      pixel_kernels::widen(image.pixels + (next - image.top) * row_bytes + (columns_.begin() - image.left) * channels,
                           num_used, widened_.data() + next % rows_.taps * num_used);
    pixel_kernels::add_rows({widened_.data(), first}, {weight, rows_.taps}, num_used, between_.data());
    pixel_kernels::add_columns(between_.data(), columns, sums_.data(), out);
    weight += rows_.taps;
    out += columns_.size() * channels;
  }
}

}  // namespace convoy
