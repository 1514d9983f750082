/// Pooling against plain loops.
#include "reference/pooling.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "unit/ops/device_bytes.h"
#include "unit/ops/op_test.h"
#include "unit/ops/pooling_specs.h"

namespace convoy {
namespace {

using ops::PoolingSpec;

const std::vector<PoolingSpec> kSpecs = {
    {Shape::images(1, 1, 1, 1), 1, 1, 0},   {Shape::images(2, 8, 8, 16), 2, 2, 0},
    {Shape::images(2, 9, 7, 37), 3, 2, 1},  {Shape::images(1, 112, 112, 64), 3, 2, 1},
    {Shape::images(2, 7, 7, 1), 3, 1, 1},   {Shape::images(3, 11, 10, 19), 3, 3, 0},
    {Shape::images(1, 5, 5, 3), 5, 1, 2},   {Shape::images(1, 1, 1, 5), 3, 2, 1},
    {Shape::images(1, 9, 9, 16), 7, 2, 3},  {Shape::images(2, 6, 6, 20), 2, 2, 0},
    {Shape::images(2, 10, 9, 33), 2, 3, 1}, {Shape::images(1, 16, 17, 2), 15, 1, 7}};

/// All specs above with their padding counted; adaptive windows that divide the image, that overlap, that are one pixel
/// or all pixels, and that are more than the pixels.
std::vector<PoolingSpec> average_specs() {
  std::vector<PoolingSpec> all = kSpecs;
  for (PoolingSpec spec : kSpecs) {
    spec.counts_padding = true;
    all.push_back(spec);
  }
  const auto adaptive = [](const Shape& x, std::int64_t h, std::int64_t w) {
    return PoolingSpec{.x = x, .adaptive_h = h, .adaptive_w = w};
  };
  for (const PoolingSpec& spec :
       {adaptive(Shape::images(1, 1, 1, 1), 1, 1), adaptive(Shape::images(2, 8, 6, 16), 4, 3),
        adaptive(Shape::images(2, 7, 9, 37), 3, 4), adaptive(Shape::images(2, 13, 5, 4), 6, 6),
        adaptive(Shape::images(1, 10, 11, 64), 7, 7), adaptive(Shape::images(2, 5, 4, 8), 1, 1),
        adaptive(Shape::images(2, 5, 4, 8), 5, 4), adaptive(Shape::images(1, 2, 3, 5), 7, 5)})
    all.push_back(spec);
  return all;
}

/// The largest number of additions that a value of y or dx takes, in an average.
std::int64_t max_additions(const PoolingSpec& spec) {
  if (!spec.is_adaptive()) return spec.kernel * spec.kernel;
  // A part of `a` things for `b` others covers less than a / b + 2 of them.
  const auto covered = [](std::int64_t a, std::int64_t b) { return a / b + 2; };
  const Shape x = spec.x, y = spec.y();
  return std::max(covered(x.h, y.h) * covered(x.w, y.w), covered(y.h, x.h) * covered(y.w, x.w));
}

class PoolingTest : public OpTest {};

TEST_P(PoolingTest, MaxEqualsPlainLoops) {
  for (const PoolingSpec& spec : with_types(kSpecs, types())) {
    SCOPED_TRACE(describe(spec));
    const Array x = rounded(spec.type, random_array(spec.x.count(), 1, -3)),  // padding's 0 would win
        dy = rounded(spec.type, random_array(spec.y().count(), 2));
    const DeviceArray device_x(*backend_, x, spec.type), device_dy(*backend_, dy, spec.type);
    const DeviceArray y(*backend_, spec.y().count(), spec.type), dx(*backend_, spec.x.count(), spec.type);
    const DeviceBytes winner(*backend_, spec.y().count());
    const auto op = backend_->create<ops::MaxPoolOp>(spec);
    op->forward(device_x, y, winner.data());
    op->backward(device_dy, winner.data(), dx);
    const auto want = reference::max_pool(spec, x);
    EXPECT_EQ(y.doubles(), want.y);  // chosen, not computed: no rounding
    EXPECT_EQ(winner.values(), want.winner);
    // A pixel sums the gradients of at most ceil(kernel / stride)^2 windows.
    const std::int64_t windows = (spec.kernel + spec.stride - 1) / spec.stride;
    expect_close("dx", dx, reference::max_pool_gradient(spec, want.winner, dy),
                 rounding_bound(reference::max_pool_gradient(spec, want.winner, absolute(dy)), windows * windows));
  }
}

TEST_P(PoolingTest, MaxTakesTheFirstAmongEquals) {
  for (const std::int64_t channels : {1, 8, 37}) {
    const PoolingSpec spec{Shape::images(1, 4, 4, channels), 3, 1, 1};
    Array x(index(spec.x.count()), 0.0);
    for (std::size_t i = 1; i < x.size(); i += 2) x[i] = -0.0;
    const DeviceArray device_x(*backend_, x), y(*backend_, spec.y().count());
    const DeviceBytes winner(*backend_, spec.y().count());
    backend_->create<ops::MaxPoolOp>(spec)->forward(device_x, y, winner.data());
    const std::vector<std::uint8_t> winners = winner.values();
    EXPECT_EQ(winners, reference::max_pool(spec, x).winner);
    EXPECT_EQ(winners[0], 4) << "at the corner, the first place inside the image is the window's centre";
  }
}

TEST_P(PoolingTest, MaxOfInfinitiesIsInsideTheImageAndNaNIsKept) {
  const double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  for (const std::int64_t channels : {1, 16}) {
    const PoolingSpec spec{Shape::images(1, 3, 3, channels), 3, 3, 1};
    Array x(index(spec.x.count()), -infinity);
    const DeviceArray y(*backend_, spec.y().count());
    const DeviceBytes winner(*backend_, spec.y().count());
    const auto op = backend_->create<ops::MaxPoolOp>(spec);
    op->forward(DeviceArray(*backend_, x), y, winner.data());
    EXPECT_EQ(y.values()[0], -infinity);
    EXPECT_EQ(winner.values()[0], 4);
    for (const std::int64_t pixel : {0, 1, 3}) {  // of the window's four pixels; larger values before and after it
      x.assign(x.size(), 1);
      x[index(pixel * channels)] = nan;
      op->forward(DeviceArray(*backend_, x), y, winner.data());
      EXPECT_TRUE(std::isnan(y.values()[0])) << "at pixel " << pixel;
    }
  }
}

TEST_P(PoolingTest, AverageEqualsDoubleLoops) {
  for (const PoolingSpec& spec : with_types(average_specs(), types())) {
    SCOPED_TRACE(describe(spec));
    const Array x = rounded(spec.type, random_array(spec.x.count(), 1)),
                dy = rounded(spec.type, random_array(spec.y().count(), 2));
    const DeviceArray device_x(*backend_, x, spec.type), device_dy(*backend_, dy, spec.type);
    const DeviceArray y(*backend_, spec.y().count(), spec.type), dx(*backend_, spec.x.count(), spec.type);
    const auto op = backend_->create<ops::AveragePoolOp>(spec);
    op->forward(device_x, y);
    op->backward(device_dy, dx);
    // Additions, the first of which is exact, and a division or the reciprocal and a product.
    const std::int64_t roundings = max_additions(spec) + 1;
    expect_close("y", y, reference::average_pool(spec, x),
                 rounding_bound(reference::average_pool(spec, absolute(x)), roundings));
    expect_close("dx", dx, reference::average_pool_gradient(spec, dy),
                 rounding_bound(reference::average_pool_gradient(spec, absolute(dy)), roundings));
  }
}

TEST_P(PoolingTest, GlobalAverageEqualsDoubleLoops) {
  for (const Shape& shape : {Shape::images(1, 1, 1, 1), Shape::images(2, 7, 7, 37), Shape::images(3, 8, 8, 64),
                             Shape::images(1, 13, 5, 100), Shape::images(2, 3, 3, 1000)}) {
    for (const DataType type : types()) {
      SCOPED_TRACE(fmt::format("{}, {}", to_string(shape), to_string(type)));
      const Array x = rounded(type, random_array(shape.count(), 1)),
                  dy = rounded(type, random_array(shape.n * shape.c, 2));
      const DeviceArray device_x(*backend_, x, type), device_dy(*backend_, dy, type);
      const DeviceArray y(*backend_, shape.n * shape.c, type), dx(*backend_, shape.count(), type);
      const auto op = backend_->create<ops::GlobalAveragePoolOp>({shape, type});
      op->forward(device_x, y);
      op->backward(device_dy, dx);
      // Additions and a division; backward only divides.
      expect_close("y", y, reference::global_average_pool(shape, x),
                   rounding_bound(reference::global_average_pool(shape, absolute(x)), shape.h * shape.w));
      expect_close("dx", dx, reference::global_average_pool_gradient(shape, dy),
                   rounding_bound(reference::global_average_pool_gradient(shape, absolute(dy)), 1));
    }
  }
}

CONVOY_RUN_ON_ALL_BACKENDS(PoolingTest);

}  // namespace
}  // namespace convoy
