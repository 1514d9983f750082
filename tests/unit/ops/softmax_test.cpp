/// SoftmaxOp against its definition.
#include "reference/softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "unit/ops/op_test.h"

namespace convoy {
namespace {

using ops::SoftmaxSpec;

class SoftmaxTest : public OpTest {
 protected:
  /// The bound of y is the contract's. The sum of backward has C + 1 roundings, dx 2 more.
  void expect_definition(const SoftmaxSpec& spec, double radius) {
    SCOPED_TRACE(fmt::format("{} rows of {} values, {}", spec.num_rows, spec.width, to_string(spec.type)));
    const std::int64_t count = spec.num_rows * spec.width;
    const Array x = rounded(spec.type, random_array(count, 1, 3, radius)),
                dy = rounded(spec.type, random_array(count, 2));
    const DeviceArray device_x(*backend_, x, spec.type), device_dy(*backend_, dy, spec.type);
    const DeviceArray y(*backend_, count, spec.type), dx(*backend_, count, spec.type);
    const auto op = backend_->create<ops::SoftmaxOp>(spec);
    op->forward(device_x, y);
    op->backward(y, device_dy, dx);

    const Array want = reference::softmax(spec, x);
    const auto width = static_cast<double>(spec.width);
    Array bound(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto row = x.begin() + static_cast<std::ptrdiff_t>(i / index(spec.width) * index(spec.width));
      const double d = *std::max_element(row, row + static_cast<std::ptrdiff_t>(spec.width)) - x[i];
      bound[i] = (2 * d + width + 16) * kRounding * want[i] + (want[i] < 0x1p-100 ? 0x1p-100 : 0);
    }
    expect_close("y", y, want, bound);

    const Array given = y.doubles();
    const auto gradient = reference::softmax_gradient(spec, given, dy);
    for (std::size_t i = 0; i < x.size(); ++i)
      bound[i] =
          given[i] * kRounding * (3 * std::abs(dy[i]) + (width + 4) * gradient.scale_of_sum[i / index(spec.width)]) +
          0x1p-149;  // two subnormal roundings
    expect_close("dx", dx, gradient.dx, bound);

    op->forward(device_x, device_x);
    op->backward(y, device_dy, device_dy);
    EXPECT_EQ(bits(device_x), bits(y)) << "over its input";
    EXPECT_EQ(bits(device_dy), bits(dx)) << "over its input";
  }
};

TEST_P(SoftmaxTest, EqualsItsDefinition) {
  for (const DataType type : types())
    for (const auto& [rows, width] :
         {std::pair{1, 1}, {5, 3}, {7, 16}, {300, 10}, {33, 37}, {64, 256}, {9, 1000}, {2, 5003}})
      for (const double radius : {1.0, 60.0})
        expect_definition({.num_rows = rows, .width = width, .type = type}, radius);
}

TEST_P(SoftmaxTest, HugeValuesAndInfinitiesAreTheirLimits) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();
  const SoftmaxSpec spec{.num_rows = 5, .width = 3};
  const DeviceArray x(*backend_, {-kInfinity, 2, 2, -3e38, 0, 3e38, 1, kNan, 1, 1, kInfinity, 1, 5, 5, -200});
  const DeviceArray y(*backend_, 15);
  backend_->create<ops::SoftmaxOp>(spec)->forward(x, y);
  const Array values = y.doubles();
  EXPECT_EQ(Array(values.begin(), values.begin() + 6), (Array{0, 0.5, 0.5, 0, 0, 1}));
  for (std::size_t i = 6; i < 12; ++i) EXPECT_TRUE(std::isnan(values[i])) << i;
  EXPECT_EQ(Array(values.begin() + 12, values.begin() + 14), (Array{0.5, 0.5}));
  EXPECT_LT(values[14], 0x1p-100);
}

TEST_P(SoftmaxTest, BitsOfARowDoNotDependOnTheOthers) {
  const SoftmaxSpec one{.num_rows = 1, .width = 37}, all{.num_rows = 5, .width = 37};
  const Array x = random_array(5 * 37, 1, 0, 10);
  const auto run = [&](const SoftmaxSpec& spec, const Array& from) {
    const DeviceArray device_x(*backend_, from), y(*backend_, std::ssize(from));
    backend_->create<ops::SoftmaxOp>(spec)->forward(device_x, y);
    return bits(y);
  };
  const auto together = run(all, x);
  for (std::ptrdiff_t r = 0; r < 5; ++r)
    EXPECT_EQ(run(one, Array(x.begin() + r * 37, x.begin() + (r + 1) * 37)),
              std::vector(together.begin() + r * 37, together.begin() + (r + 1) * 37));
}

TEST(SoftmaxOnTheCpu, GivesTheSameBitsForEveryNumberOfThreads) {
  const SoftmaxSpec spec{.num_rows = 1000, .width = 37, .type = DataType::kBfloat16};
  const Array x = random_array(37'000, 1, 0, 10), dy = random_array(37'000, 2);
  std::vector<std::vector<std::uint32_t>> first;
  for (const std::int64_t threads : {1, 2, 3, 7}) {
    const auto backend = ops::make_backend({.device = DeviceKind::kCpu, .threads = threads});
    const DeviceArray device_x(*backend, x, spec.type), device_dy(*backend, dy, spec.type);
    const DeviceArray y(*backend, 37'000, spec.type), dx(*backend, 37'000, spec.type);
    const auto op = backend->create<ops::SoftmaxOp>(spec);
    op->forward(device_x, y);
    op->backward(y, device_dy, dx);
    const std::vector<std::vector<std::uint32_t>> now = {bits(y), bits(dx)};
    if (first.empty()) first = now;
    EXPECT_EQ(now, first) << threads << " threads";
  }
}

CONVOY_RUN_ON_ALL_BACKENDS(SoftmaxTest);

}  // namespace
}  // namespace convoy
