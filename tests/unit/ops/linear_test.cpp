/// LinearOp against double loops.
#include "reference/linear.h"

#include "unit/ops/op_test.h"

namespace convoy {
namespace {

using ops::LinearSpec;

class LinearTest : public OpTest {};

TEST_P(LinearTest, EqualsDoubleLoops) {
  for (const DataType type : types()) {
    for (LinearSpec spec : {LinearSpec{1, 1, 1}, LinearSpec{1, 37, 10}, LinearSpec{8, 64, 10}, LinearSpec{5, 37, 101},
                            LinearSpec{16, 512, 1000}, LinearSpec{3, 2048, 7}}) {
      spec.type = type;
      SCOPED_TRACE(fmt::format("{} samples, {} inputs, {} outputs, {}", spec.n, spec.num_inputs, spec.num_outputs,
                               to_string(type)));
      const Array x = rounded(type, random_array(spec.n * spec.num_inputs, 1)),
                  w = rounded(type, random_array(spec.num_outputs * spec.num_inputs, 2)),
                  b = random_array(spec.num_outputs, 3), dy = rounded(type, random_array(spec.n * spec.num_outputs, 4));
      const DeviceArray device_x(*library_, x, type), device_w(*library_, w, type), device_b(*library_, b),
          device_dy(*library_, dy, type);
      const DeviceArray y(*library_, spec.n * spec.num_outputs), dx(*library_, spec.n * spec.num_inputs, type),
          dw(*library_, spec.num_outputs * spec.num_inputs), db(*library_, spec.num_outputs);
      const auto op = library_->linear(spec);
      op->forward(device_x, device_w, device_b, y);
      op->backward_input(device_dy, device_w, dx);
      op->backward_weight(device_x, device_dy, dw, db);

      // A sum of k products: k roundings; with the bias one more.
      const auto want = reference::linear_gradient(spec, x, w, dy);
      const auto scale = reference::linear_gradient(spec, absolute(x), absolute(w), absolute(dy));
      expect_close("y", y, reference::linear(spec, x, w, b),
                   rounding_bound(reference::linear(spec, absolute(x), absolute(w), absolute(b)), spec.num_inputs + 1));
      expect_close("dx", dx, want.dx, rounding_bound(scale.dx, spec.num_outputs));
      expect_close("dw", dw, want.dw, rounding_bound(scale.dw, spec.n));
      expect_close("db", db, want.db, rounding_bound(scale.db, spec.n));
    }
  }
}

TEST_P(LinearTest, GivesTheSameBitsInEveryRun) {
  const LinearSpec spec{16, 2048, 1000};
  std::vector<std::vector<std::uint32_t>> first;
  for (int repeat = 0; repeat < 3; ++repeat) {
    const auto library = another_library();
    const auto op = library->linear(spec);
    const DeviceArray x(*library, random_array(spec.n * spec.num_inputs, 1)),
        w(*library, random_array(spec.num_outputs * spec.num_inputs, 2)),
        b(*library, random_array(spec.num_outputs, 3)), dy(*library, random_array(spec.n * spec.num_outputs, 4));
    const DeviceArray y(*library, spec.n * spec.num_outputs), dx(*library, spec.n * spec.num_inputs),
        dw(*library, spec.num_outputs * spec.num_inputs), db(*library, spec.num_outputs);
    op->forward(x, w, b, y);
    op->backward_input(dy, w, dx);
    op->backward_weight(x, dy, dw, db);
    const std::vector<std::vector<std::uint32_t>> results = {bits(y), bits(dx), bits(dw), bits(db)};
    if (first.empty()) first = results;
    EXPECT_EQ(first, results);
  }
}

CONVOY_RUN_ON_ALL_LIBRARIES(LinearTest);

}  // namespace
}  // namespace convoy
