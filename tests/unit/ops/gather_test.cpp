/// GatherOp against plain loops.
#include "reference/gather.h"

#include <cmath>

#include "convoy/base/error.h"

#include "unit/ops/device_ints.h"
#include "unit/ops/op_test.h"

namespace convoy {
namespace {

using ops::GatherSpec;
using ops::kNoPosition;

/// Positions by which some words are taken several times, some never, and some places are not used.
std::vector<std::int32_t> positions_for(const GatherSpec& spec) {
  std::vector<std::int32_t> positions;
  for (std::int64_t n = 0; n < spec.n; ++n)
    for (std::int64_t k = 0; k < spec.num_taken; ++k)
      positions.push_back(k % 5 == 4 ? kNoPosition : static_cast<std::int32_t>((n + k * k) % spec.length));
  return positions;
}

class GatherTest : public OpTest {
 protected:
  void expect_loops(const GatherSpec& spec, const std::vector<std::int32_t>& positions) {
    SCOPED_TRACE(fmt::format("{} of {} words of {} sequences of {} values, {}", spec.num_taken, spec.length, spec.n,
                             spec.width, to_string(spec.type)));
    const Array x = rounded(spec.type, random_array(spec.n * spec.length * spec.width, 1)),
                dy = rounded(spec.type, random_array(spec.n * spec.num_taken * spec.width, 2));
    const DeviceInts device_positions(backend_->device(), positions);
    const DeviceArray device_x(*backend_, x, spec.type), device_dy(*backend_, dy, spec.type),
        y(*backend_, std::ssize(dy), spec.type), dx(*backend_, std::ssize(x), spec.type);
    const auto op = backend_->create<ops::GatherOp>(spec);
    op->forward(device_x, device_positions, y);
    op->backward(device_dy, device_positions, dx);
    EXPECT_EQ(y.doubles(), reference::gather(spec, positions, x));
    // At most K additions.
    expect_close("dx", dx, reference::gather_gradient(spec, positions, dy),
                 rounding_bound(reference::gather_gradient(spec, positions, absolute(dy)), spec.num_taken));
  }
};

TEST_P(GatherTest, EqualsPlainLoops) {
  for (const DataType type : types()) {
    for (GatherSpec spec : {GatherSpec{.n = 1, .length = 1, .num_taken = 1, .width = 1},
                            {.n = 3, .length = 7, .num_taken = 12, .width = 37},
                            {.n = 4, .length = 100, .num_taken = 15, .width = 64},
                            {.n = 20, .length = 128, .num_taken = 19, .width = 256}}) {
      spec.type = type;
      expect_loops(spec, positions_for(spec));
    }
  }
}

TEST_P(GatherTest, WithoutPositionsTakesTheFirstWords) {
  for (const DataType type : types()) {
    expect_loops({.n = 5, .length = 9, .num_taken = 1, .width = 24, .type = type}, {});
    expect_loops({.n = 2, .length = 3, .num_taken = 3, .width = 5, .type = type}, {});
  }
  const auto op = backend_->create<ops::GatherOp>({.n = 1, .length = 2, .num_taken = 3, .width = 1});
  const DeviceArray x(*backend_, 2), y(*backend_, 3);
  EXPECT_THROW(op->forward(x, nullptr, y), Error);
}

// The CPU throws; a GPU, which cannot, makes the results NaN, so that the step fails.
TEST_P(GatherTest, PositionsThatNoWordHasAreNeverTakenForOne) {
  for (const std::int32_t position : {3, -2}) {
    const DeviceInts positions(backend_->device(), {position});
    const DeviceArray x(*backend_, {1, 2, 3}), y(*backend_, 1);
    const auto op = backend_->create<ops::GatherOp>({.n = 1, .length = 3, .num_taken = 1, .width = 1});
    try {
      op->forward(x, positions, y);
      EXPECT_TRUE(std::isnan(y.doubles().front())) << position;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(fmt::format("position {}", position)), std::string::npos)
          << error.what();
    }
  }
}

CONVOY_RUN_ON_ALL_BACKENDS(GatherTest);

}  // namespace
}  // namespace convoy
