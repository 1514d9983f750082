/// Sizes change as averages of areas do: flat stays flat, ramps stay ramps, nothing aliases.
#include "data/resample.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

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
  resampler.resample(in.view(), region, h, w, out.pixels.data());
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

TEST(Resample, CentreSquareIsTheMiddle) {
  const Picture in = make({4, 10, 1}, [](auto, auto x, auto) { return 20 * x; });
  EXPECT_EQ(resampled(in, centre_square(in.shape), 4, 4).pixels,
            make({4, 4, 1}, [](auto, auto x, auto) { return 20 * (x + 3); }).pixels);
  const Picture tall = make({10, 4, 1}, [](auto y, auto, auto) { return 20 * y; });
  EXPECT_EQ(resampled(tall, centre_square(tall.shape), 4, 4).pixels,
            make({4, 4, 1}, [](auto y, auto, auto) { return 20 * (y + 3); }).pixels);
}

TEST(Resample, OnePixelServesAnySize) {
  const Picture in = make({1, 1, 3}, [](auto, auto, auto c) { return 50 * c; });
  EXPECT_EQ(resampled(in, whole(in.shape), 5, 3).pixels,
            make({5, 3, 3}, [](auto, auto, auto c) { return 50 * c; }).pixels);
}

}  // namespace
}  // namespace convoy
