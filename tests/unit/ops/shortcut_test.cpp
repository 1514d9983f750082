/// ShortcutOp against plain loops.
#include "reference/shortcut.h"

#include "unit/ops/op_test.h"

namespace convoy {
namespace {

using ops::ShortcutSpec;

class ShortcutTest : public OpTest {};

TEST_P(ShortcutTest, EqualsPlainLoopsExactly) {
  for (const ShortcutSpec& spec :
       {ShortcutSpec{{1, 1, 1, 1}, 1, 1}, ShortcutSpec{{2, 8, 8, 16}, 2, 32}, ShortcutSpec{{2, 7, 9, 16}, 2, 32},
        ShortcutSpec{{3, 7, 5, 37}, 3, 40}, ShortcutSpec{{1, 5, 4, 1}, 2, 2}, ShortcutSpec{{2, 4, 4, 16}, 1, 16}}) {
    SCOPED_TRACE(fmt::format("{} by {} to {} channels", to_string(spec.x), spec.stride, spec.num_channels));
    const Array x = random_array(spec.x.count(), 1), dy = random_array(spec.y().count(), 2),
                dx = random_array(spec.x.count(), 3);
    const DeviceArray device_x(*library_, x), device_dy(*library_, dy), device_dx(*library_, dx);
    const DeviceArray y(*library_, spec.y().count());
    const auto op = library_->shortcut(spec);
    op->forward(device_x, y);
    op->backward(device_dy, device_dx);
    expect_close("y", y, reference::shortcut(spec, x), Array(index(spec.y().count())));  // copies: no rounding
    // dx += dy: one addition, one rounding
    expect_close("dx", device_dx, reference::shortcut_gradient(spec, dy, dx),
                 rounding_bound(reference::shortcut_gradient(spec, absolute(dy), absolute(dx)), 1));
  }
}

CONVOY_RUN_WITH_ONE_AND_TWO_THREADS(ShortcutTest);

}  // namespace
}  // namespace convoy
