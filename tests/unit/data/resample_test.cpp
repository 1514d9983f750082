/// Resizing averages areas: flat stays flat, ramps stay ramps, nothing aliases.
#include "data/images/resample.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "data/images/pixel_kernels.h"

namespace convoy {
namespace {

struct Picture {
  ImageShape shape;
  std::vector<std::uint8_t> pixels;
  ImageView view() const { return {shape, pixels.data()}; }
};

template <typename Value>
Picture make(const ImageShape& shape, const Value& value) {
  Picture picture{shape, {}};
  for (std::int64_t y = 0; y < shape.h; ++y)
    for (std::int64_t x = 0; x < shape.w; ++x)
      for (std::int64_t c = 0; c < shape.c; ++c) picture.pixels.push_back(static_cast<std::uint8_t>(value(y, x, c)));
  return picture;
}

Picture resampled(const Picture& in, const Region& region, std::int64_t h, std::int64_t w) {
  Resampler resampler;
  Picture out{{h, w, in.shape.c}, std::vector<std::uint8_t>(static_cast<std::size_t>(h * w * in.shape.c))};
  resampler.plan(in.shape, grid_over(region, h, w), h, w);
  resampler.resample(in.view(), out.pixels.data());
  return out;
}

TEST(Resample, ToTheSameSizeChangesNothing) {
  const Picture in = make({13, 9, 3}, [](auto y, auto x, auto c) { return (y * 71 + x * 37 + c * 101) % 256; });
  EXPECT_EQ(resampled(in, whole(in.shape), 13, 9).pixels, in.pixels);
}

TEST(Resample, KeepsFlatOnesFlatAtAnySize) {
  for (const int value : {0, 1, 127, 254, 255}) {
    const Picture in = make({17, 23, 1}, [&](auto, auto, auto) { return value; });
    for (const std::int64_t size : {1, 2, 7, 16, 17, 40}) {
      for (const std::uint8_t got : resampled(in, whole(in.shape), size, size).pixels) ASSERT_EQ(got, value) << size;
    }
  }
}

TEST(Resample, KeepsRampsAwayFromTheEdges) {
  const Picture in = make({40, 60, 2}, [](auto y, auto x, auto c) { return c == 0 ? 4 * x : 6 * y; });
  for (const std::int64_t size : {10, 20, 33, 80}) {
    const Picture out = resampled(in, whole(in.shape), size, size);
    const double step_y = 40.0 / static_cast<double>(size), step_x = 60.0 / static_cast<double>(size);
    for (std::int64_t y = 0; y < size; ++y) {
      for (std::int64_t x = 0; x < size; ++x) {
        const double at_y = (static_cast<double>(y) + 0.5) * step_y, at_x = (static_cast<double>(x) + 0.5) * step_x;
        const double reach_y = std::max(1.0, step_y), reach_x = std::max(1.0, step_x);
        const auto* const pixel = out.pixels.data() + (y * size + x) * 2;
        // Weighted about its centre a ramp is its value there, but for weights of 14 bits (60 * 4 * 7 * 2^-14), samples
        // that do not lie evenly in the triangle (half a step of the ramp) and rounding.
        if (at_x > reach_x && at_x < 60 - reach_x) {
          EXPECT_NEAR(pixel[0], 4 * (at_x - 0.5), 2.7) << size;
        }
        if (at_y > reach_y && at_y < 40 - reach_y) {
          EXPECT_NEAR(pixel[1], 6 * (at_y - 0.5), 3.7) << size;
        }
      }
    }
  }
}

TEST(Resample, AveragesWhatItCannotShow) {
  const Picture in = make({64, 64, 1}, [](auto y, auto x, auto) { return (y + x) % 2 == 0 ? 0 : 255; });
  for (const std::uint8_t got : resampled(in, whole(in.shape), 8, 8).pixels) EXPECT_NEAR(got, 127.5, 4);
}

/// Returns only the rows and columns of the window.
Picture part_of(const Picture& in, const Window& window) {
  return make({window.bottom - window.top, window.right - window.left, in.shape.c}, [&](auto y, auto x, auto c) {
    const std::int64_t at = ((window.top + y) * in.shape.w + window.left + x) * in.shape.c + c;
    return in.pixels[static_cast<std::size_t>(at)];
  });
}

TEST(Resample, DependsOnNothingButThePlannedWindow) {
  for (const std::int64_t channels : {1, 3}) {
    const Picture in =
        make({60, 70, channels}, [](auto y, auto x, auto c) { return (y * y * 71 + x * 37 + c * 101) % 256; });
    for (const Region& region : {Region{0, 0, 60, 70}, Region{20.5, 10.25, 13, 40}, Region{59, 69, 1, 1}}) {
      for (const std::int64_t size : {1, 9, 40}) {
        Resampler resampler;
        const Window window = resampler.plan(in.shape, grid_over(region, size, size), size, size);
        const Picture part = part_of(in, window);
        std::vector<std::uint8_t> out(static_cast<std::size_t>(size * size * channels));
        resampler.resample({part.shape, part.pixels.data(), window.top, window.left}, out.data());
        EXPECT_EQ(out, resampled(in, region, size, size).pixels) << region.top << " to " << size;
      }
    }
  }
}

TEST(Resample, IsTheTriangleFilterAtAnyStep) {
  const Picture in = make({1, 50, 3}, [](auto, auto x, auto c) { return (x * x * 37 + c * 101) % 256; });
  for (const std::int64_t size : {5, 20, 49, 120}) {
    const Region region{0, 3.5, 1, 40};
    const Picture out = resampled(in, region, 1, size);
    const double step = region.width / static_cast<double>(size), reach = std::max(1.0, step);
    for (std::int64_t x = 0; x < size; ++x) {
      const double centre = region.left + (static_cast<double>(x) + 0.5) * step;
      for (std::int64_t c = 0; c < 3; ++c) {
        double sum = 0, weights = 0;
        for (std::int64_t j = 0; j < 50; ++j) {
          const double weight = std::max(0.0, 1 - std::abs(static_cast<double>(j) + 0.5 - centre) / reach);
          sum += weight * in.pixels[static_cast<std::size_t>(3 * j + c)], weights += weight;
        }
        // At most 20 weights, each off by 2^-14 of 255, one by as much as all others; rounded once, by half a unit.
        EXPECT_NEAR(out.pixels[static_cast<std::size_t>(3 * x + c)], sum / weights, 40 * 255.0 / 16384 + 0.5) << size;
      }
    }
  }
}

/// Returns the weights of one value of the result: uneven multiples of 2^-14 that sum to 1.
std::vector<double> some_weights(std::int64_t taps, std::int64_t seed) {
  std::vector<double> weights;
  double rest = 1;
  for (std::int64_t t = 1; t < taps; ++t) {
    weights.push_back(std::floor(rest * static_cast<double>((seed * 37 + t * 53) % 100) / 100 * 0x1p14) * 0x1p-14);
    rest -= weights.back();
  }
  weights.push_back(rest);
  return weights;
}

// Whole numbers of 2^-28 below 2^36: a double holds every sum of them.
TEST(Resample, KernelsEqualPlainLoopsToTheBit) {
  for (const std::int64_t channels : {1, 2, 3, 4}) {
    for (std::int64_t taps = 1; taps <= 9; ++taps) {
      const std::int64_t num_pixels = 40 - 3 * taps, num_columns = num_pixels + taps, first_row = 5;
      const Picture in = make({taps, num_columns, channels},
                              [](auto y, auto x, auto c) { return (y * y * 71 + x * x * 37 + c * 101) % 256; });
      const std::int64_t count = num_columns * channels;
      std::vector<float> widened(static_cast<std::size_t>(taps * count));
      for (std::int64_t t = 0; t < taps; ++t)
        pixel_kernels::widen(in.pixels.data() + t * count, count, widened.data() + (first_row + t) % taps * count);
      const std::vector<double> down = some_weights(taps, taps);
      std::vector<double> between(static_cast<std::size_t>(count + pixel_kernels::kSlack));
      pixel_kernels::add_rows({widened.data(), first_row}, {down.data(), taps}, count, between.data());

      std::vector<std::int64_t> first;
      std::vector<double> across;
      for (std::int64_t x = 0; x < num_pixels; ++x) {
        first.push_back(100 + x);
        for (const double weight : some_weights(taps, x)) across.push_back(weight);
      }
      std::vector<std::int32_t> sums(static_cast<std::size_t>(num_pixels * channels + pixel_kernels::kSlack));
      std::vector<std::uint8_t> out(static_cast<std::size_t>(num_pixels * channels));
      pixel_kernels::add_columns(between.data(),
                                 {.first = first.data(),
                                  .num_pixels = num_pixels,
                                  .begin = 100,
                                  .channels = channels,
                                  .weights = {across.data(), taps}},
                                 sums.data(), out.data());

      for (std::int64_t x = 0; x < num_pixels; ++x) {
        for (std::int64_t c = 0; c < channels; ++c) {
          double sum = 0;
          for (std::int64_t i = 0; i < taps; ++i)
            for (std::int64_t t = 0; t < taps; ++t)
              sum += down[static_cast<std::size_t>(t)] * across[static_cast<std::size_t>(x * taps + i)] *
                     in.pixels[static_cast<std::size_t>(t * count + (x + i) * channels + c)];
          ASSERT_EQ(out[static_cast<std::size_t>(x * channels + c)], std::floor(sum + 0.5))
              << channels << " channels, " << taps << " taps, pixel " << x;
        }
      }
    }
  }
}

TEST(Resample, OnePixelServesAnySize) {
  const Picture in = make({1, 1, 3}, [](auto, auto, auto c) { return 50 * c; });
  EXPECT_EQ(resampled(in, whole(in.shape), 5, 3).pixels,
            make({5, 3, 3}, [](auto, auto, auto c) { return 50 * c; }).pixels);
}

}  // namespace
}  // namespace convoy
