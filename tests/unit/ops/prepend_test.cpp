/// PrependOp against plain loops.
#include "reference/prepend.h"

#include "unit/ops/op_test.h"

namespace convoy {
namespace {

using ops::PrependSpec;

class PrependTest : public OpTest {};

TEST_P(PrependTest, EqualsPlainLoops) {
  for (PrependSpec spec : {PrependSpec{.n = 1, .length = 1, .width = 1},
                           {.n = 7, .length = 9, .width = 37},
                           {.n = 3, .length = 49, .width = 64},
                           {.n = 40, .length = 4, .width = 192}}) {
    for (const DataType type : types()) {
      spec.type = type;
      SCOPED_TRACE(fmt::format("{} x {} x {}, {}", spec.n, spec.length, spec.width, to_string(type)));
      const std::int64_t x_count = spec.n * spec.length * spec.width, y_count = x_count + spec.n * spec.width;
      const Array x = rounded(type, random_array(x_count, 1)), token = random_array(spec.width, 2),
                  dy = rounded(type, random_array(y_count, 3));
      const DeviceArray device_x(*backend_, x, type), device_token(*backend_, token), device_dy(*backend_, dy, type);
      const DeviceArray y(*backend_, y_count, type), dx(*backend_, x_count, type), dtoken(*backend_, spec.width);
      const auto op = backend_->create<ops::PrependOp>(spec);
      op->forward(device_x, device_token, y);
      op->backward(device_dy, dx, dtoken);
      EXPECT_EQ(y.doubles(), reference::prepend(spec, x, rounded(type, token)));  // copies
      const auto want = reference::prepend_gradient(spec, dy);
      EXPECT_EQ(dx.doubles(), want.dx);  // copies
      expect_close("dtoken", dtoken, want.dtoken, rounding_bound(want.scale_of_dtoken, spec.n));

      const DeviceArray dx_alone(*backend_, x_count, type), dtoken_alone(*backend_, spec.width);
      op->backward(device_dy, dx_alone, nullptr);
      op->backward(device_dy, nullptr, dtoken_alone);
      EXPECT_EQ(bits(dx_alone), bits(dx));
      EXPECT_EQ(bits(dtoken_alone), bits(dtoken));
    }
  }
}

CONVOY_RUN_ON_ALL_BACKENDS(PrependTest);

}  // namespace
}  // namespace convoy
