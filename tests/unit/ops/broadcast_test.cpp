/// BroadcastOp against plain loops.
#include "reference/broadcast.h"

#include "unit/ops/op_test.h"

namespace convoy {
namespace {

using ops::BroadcastKind;
using ops::BroadcastSpec;

constexpr BroadcastKind kKinds[] = {BroadcastKind::kAdd, BroadcastKind::kMultiply};

class BroadcastTest : public OpTest {
 protected:
  /// Tests forward and backward. y and dx have one rounding; dv has one for each row, and one for each product.
  void expect_plain_loops(const BroadcastSpec& spec) {
    SCOPED_TRACE(fmt::format("{} x {}, {}, {}", spec.num_rows, spec.num_columns,
                             spec.kind == BroadcastKind::kAdd ? "add" : "multiply", to_string(spec.type)));
    const std::int64_t count = spec.num_rows * spec.num_columns;
    const Array x = rounded(spec.type, random_array(count, 1)), dy = rounded(spec.type, random_array(count, 2)),
                v = random_array(spec.num_columns, 3);
    const DeviceArray device_x(*backend_, x, spec.type), device_dy(*backend_, dy, spec.type), device_v(*backend_, v);
    const DeviceArray y(*backend_, count, spec.type), dx(*backend_, count, spec.type), dv(*backend_, spec.num_columns);
    const auto op = backend_->create<ops::BroadcastOp>(spec);
    op->forward(device_x, device_v, y);
    expect_close("y", y, reference::broadcast(spec, x, v),
                 rounding_bound(absolute(reference::broadcast(spec, x, v)), 1));
    const auto want = reference::broadcast_gradient(spec, x, v, dy);
    const bool multiplies = spec.kind == BroadcastKind::kMultiply;
    op->backward({.dy = device_dy, .x = device_x, .v = device_v, .dx = multiplies ? dx.data() : nullptr, .dv = dv});
    if (multiplies) expect_close("dx", dx, want.dx, rounding_bound(absolute(want.dx), 1));
    expect_close("dv", dv, want.dv, rounding_bound(want.scale_of_dv, spec.num_rows + 1));
  }
};

TEST_P(BroadcastTest, EqualsPlainLoops) {
  for (const BroadcastKind kind : kKinds)
    for (const DataType type : types())
      for (const auto& [rows, columns] : std::vector<std::pair<std::int64_t, std::int64_t>>{
               {1, 1}, {1, 7}, {5, 3}, {64, 96}, {1025, 33}, {3000, 16}, {2, 5000}, {40, 768}})
        expect_plain_loops({.num_rows = rows, .num_columns = columns, .kind = kind, .type = type});
}

// On a GPU, the sums of blocks are then so numerous that they, too, are summed in blocks.
TEST_P(BroadcastTest, SumsAMillionRows) {
  for (const BroadcastKind kind : kKinds)
    expect_plain_loops({.num_rows = (1 << 20) + 5, .num_columns = 1, .kind = kind});
}

TEST_P(BroadcastTest, WorksOverItsInputAndGivesWhatIsWantedAlone) {
  for (const BroadcastKind kind : kKinds) {
    const BroadcastSpec spec{.num_rows = 300, .num_columns = 20, .kind = kind};
    const std::int64_t count = spec.num_rows * spec.num_columns;
    const DeviceArray x(*backend_, random_array(count, 1)), dy(*backend_, random_array(count, 2)),
        v(*backend_, random_array(spec.num_columns, 3));
    const DeviceArray y(*backend_, count), dx(*backend_, count), dv(*backend_, spec.num_columns),
        dv_alone(*backend_, spec.num_columns);
    const auto op = backend_->create<ops::BroadcastOp>(spec);
    void* const wanted_dx = kind == BroadcastKind::kMultiply ? dx.data() : nullptr;
    op->forward(x, v, y);
    op->backward({.dy = dy, .x = x, .v = v, .dx = wanted_dx, .dv = dv});
    op->backward({.dy = dy, .x = x, .v = v, .dv = dv_alone});
    EXPECT_EQ(bits(dv_alone), bits(dv));
    if (wanted_dx != nullptr) {
      op->backward({.dy = dy, .x = x, .v = v, .dx = dy, .dv = dv_alone});
      EXPECT_EQ(bits(dy), bits(dx)) << "over dy";
      EXPECT_EQ(bits(dv_alone), bits(dv)) << "over dy";
    }
    op->forward(x, v, x);
    EXPECT_EQ(bits(x), bits(y)) << "over x";
  }
}

CONVOY_RUN_ON_ALL_BACKENDS(BroadcastTest);

}  // namespace
}  // namespace convoy
