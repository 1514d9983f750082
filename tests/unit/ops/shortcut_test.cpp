/// ShortcutOp against plain loops.
#include "reference/shortcut.h"

#include "unit/ops/op_test.h"

namespace convoy {
namespace {

using ops::ShortcutSpec;

class ShortcutTest : public OpTest {};

TEST_P(ShortcutTest, EqualsPlainLoopsExactly) {
  for (ShortcutSpec spec :
       {ShortcutSpec{Shape::images(1, 1, 1, 1), 1, 1}, ShortcutSpec{Shape::images(2, 8, 8, 16), 2, 32, 8},
        ShortcutSpec{Shape::images(2, 7, 9, 16), 2, 32, 8}, ShortcutSpec{Shape::images(3, 7, 5, 37), 3, 40, 1},
        ShortcutSpec{Shape::images(1, 5, 4, 1), 2, 2}, ShortcutSpec{Shape::images(2, 4, 4, 16), 1, 16},
        ShortcutSpec{Shape::images(2, 5, 5, 16), 2, 24, 4}, ShortcutSpec{Shape::images(2, 6, 5, 16), 1, 24},
        ShortcutSpec{Shape::images(2, 5, 5, 16), 1, 19}, ShortcutSpec{Shape::images(1, 5, 5, 16), 1, 32, 16}}) {
    for (const DataType type : types()) {
      spec.type = type;
      SCOPED_TRACE(fmt::format("{} by {} to {} channels, {}", to_string(spec.x), spec.stride, spec.num_channels,
                               to_string(type)));
      const Array x = rounded(type, random_array(spec.x.count(), 1)),
                  dy = rounded(type, random_array(spec.y().count(), 2)),
                  dx = rounded(type, random_array(spec.x.count(), 3));
      const DeviceArray device_x(*backend_, x, type), device_dy(*backend_, dy, type), device_dx(*backend_, dx, type);
      const DeviceArray y(*backend_, spec.y().count(), type);
      const auto op = backend_->create<ops::ShortcutOp>(spec);
      op->forward(device_x, y);
      op->backward(device_dy, device_dx);
      EXPECT_EQ(y.doubles(), reference::shortcut(spec, x));  // copies: no rounding
      // dx += dy: one addition, one rounding
      expect_close("dx", device_dx, reference::shortcut_gradient(spec, dy, dx),
                   rounding_bound(reference::shortcut_gradient(spec, absolute(dy), absolute(dx)), 1));
    }
  }
}

CONVOY_RUN_ON_ALL_BACKENDS(ShortcutTest);

}  // namespace
}  // namespace convoy
