/// ChannelCopyOp against plain loops.
#include "reference/channel_copy.h"

#include "unit/ops/op_test.h"

namespace convoy {
namespace {

using ops::ChannelCopySpec;

/// Wide and odd runs at the start, in the middle and at the end of x and y; rows and columns that the stride leaves
/// out.
const std::vector<ChannelCopySpec> kSpecs = {
    {.x = Shape::images(1, 1, 1, 1), .num_channels = 1, .count = 1},
    {.x = Shape::images(2, 8, 8, 16), .num_channels = 32, .count = 16, .y_first = 8, .stride = 2},
    {.x = Shape::images(2, 7, 9, 16), .num_channels = 32, .count = 16, .y_first = 8, .stride = 2},
    {.x = Shape::images(3, 7, 5, 37), .num_channels = 40, .count = 37, .y_first = 1, .stride = 3},
    {.x = Shape::images(1, 5, 4, 1), .num_channels = 2, .count = 1, .stride = 2},
    {.x = Shape::images(2, 4, 4, 16), .num_channels = 16, .count = 16},
    {.x = Shape::images(2, 5, 5, 16), .num_channels = 19, .count = 16},
    {.x = Shape::images(1, 5, 5, 16), .num_channels = 32, .count = 16, .y_first = 16},
    {.x = Shape::images(2, 5, 3, 24), .num_channels = 8, .count = 8, .x_first = 16},
    {.x = Shape::images(2, 5, 3, 37), .num_channels = 5, .count = 5, .x_first = 3},
    {.x = Shape::images(2, 5, 3, 24), .num_channels = 40, .count = 12, .x_first = 4, .y_first = 20, .stride = 2},
};

class ChannelCopyTest : public OpTest {};

TEST_P(ChannelCopyTest, EqualsPlainLoops) {
  for (ChannelCopySpec spec : kSpecs)
    for (const DataType type : types())
      for (const bool keeps_rest : {false, true}) {
        spec.type = type, spec.keeps_rest = keeps_rest;
        SCOPED_TRACE(fmt::format("{}: {} channels from {} to {} of {}, stride {}, {}", to_string(spec.x), spec.count,
                                 spec.x_first, spec.y_first, spec.num_channels, spec.stride, to_string(type)));
        const Array x = rounded(type, random_array(spec.x.count(), 1)),
                    rest = rounded(type, random_array(spec.y().count(), 2));
        const DeviceArray device_x(*backend_, x, type), y(*backend_, rest, type);
        backend_->create<ops::ChannelCopyOp>(spec)->forward(device_x, y);
        EXPECT_EQ(y.doubles(), reference::channel_copy(spec, x, rest));  // copies: no rounding
      }
}

TEST_P(ChannelCopyTest, BackwardWritesTheGradientOrAddsIt) {
  for (ChannelCopySpec spec : kSpecs)
    for (const DataType type : types()) {
      spec.type = type;
      SCOPED_TRACE(fmt::format("{}: {} channels from {} to {} of {}, stride {}, {}", to_string(spec.x), spec.count,
                               spec.x_first, spec.y_first, spec.num_channels, spec.stride, to_string(type)));
      const Array dy = rounded(type, random_array(spec.y().count(), 1)),
                  addend = rounded(type, random_array(spec.x.count(), 2));
      const DeviceArray device_dy(*backend_, dy, type), device_addend(*backend_, addend, type);
      const DeviceArray dx(*backend_, spec.x.count(), type), sum(*backend_, spec.x.count(), type);
      const auto op = backend_->create<ops::ChannelCopyOp>(spec);
      op->backward(device_dy, nullptr, dx);
      op->backward(device_dy, device_addend, sum);
      op->backward(device_dy, device_addend, device_addend);
      EXPECT_EQ(dx.doubles(), reference::channel_copy_gradient(spec, dy, Array(addend.size())));  // copies
      // One addition, one rounding.
      const Array want = reference::channel_copy_gradient(spec, dy, addend);
      expect_close("sum", sum, want,
                   rounding_bound(reference::channel_copy_gradient(spec, absolute(dy), absolute(addend)), 1));
      EXPECT_EQ(device_addend.values(), sum.values()) << "in place";
    }
}

CONVOY_RUN_ON_ALL_BACKENDS(ChannelCopyTest);

}  // namespace
}  // namespace convoy
