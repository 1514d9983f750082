/// LinearOp against double loops.
#include "reference/linear.h"

#include "unit/ops/op_test.h"

namespace convoy {
namespace {

using ops::Activation;
using ops::LinearSpec;

class LinearTest : public OpTest {};

TEST_P(LinearTest, EqualsDoubleLoops) {
  for (const DataType type : types()) {
    for (LinearSpec spec : {LinearSpec{1, 1, 1}, LinearSpec{1, 37, 10}, LinearSpec{8, 64, 10}, LinearSpec{5, 37, 101},
                            LinearSpec{16, 512, 1000}, LinearSpec{3, 2048, 7}, LinearSpec{2500, 9, 70},
                            LinearSpec{40, 30000, 8}, LinearSpec{2100, 70, 100}}) {
      spec.type = type;
      SCOPED_TRACE(fmt::format("{} samples, {} inputs, {} outputs, {}", spec.n, spec.num_inputs, spec.num_outputs,
                               to_string(type)));
      const Array x = rounded(type, random_array(spec.n * spec.num_inputs, 1)),
                  w = rounded(type, random_array(spec.num_outputs * spec.num_inputs, 2)),
                  b = random_array(spec.num_outputs, 3), dy = rounded(type, random_array(spec.n * spec.num_outputs, 4));
      const DeviceArray device_x(*backend_, x, type), device_w(*backend_, w, type), device_b(*backend_, b),
          device_dy(*backend_, dy, type);
      const DeviceArray y(*backend_, spec.n * spec.num_outputs), dx(*backend_, spec.n * spec.num_inputs, type),
          dw(*backend_, spec.num_outputs * spec.num_inputs), db(*backend_, spec.num_outputs);
      const auto op = backend_->create<ops::LinearOp>(spec);
      op->forward(device_x, device_w, device_b, {.y = y});
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

// Layers inside a network have y and b in the type. The last case is larger than a block of rows, if bf16 is computed
// in float32.
TEST_P(LinearTest, StoresItsResultInTheTypeAndActivatesWhatItHasStored) {
  for (const DataType type : types()) {
    for (LinearSpec spec : {LinearSpec{5, 37, 101}, LinearSpec{70, 16, 24}, LinearSpec{40, 30000, 8}}) {
      SCOPED_TRACE(fmt::format("{} rows, {} inputs, {} outputs, {}", spec.n, spec.num_inputs, spec.num_outputs,
                               to_string(type)));
      spec.type = spec.y_type = type;
      const Array x = rounded(type, random_array(spec.n * spec.num_inputs, 1)),
                  w = rounded(type, random_array(spec.num_outputs * spec.num_inputs, 2)),
                  b = rounded(type, random_array(spec.num_outputs, 3));
      const DeviceArray device_x(*backend_, x, type), device_w(*backend_, w, type), device_b(*backend_, b, type);
      const std::int64_t count = spec.n * spec.num_outputs;
      const DeviceArray y(*backend_, count, type), activated(*backend_, count, type), want(*backend_, count, type);
      for (const Activation activation : {Activation::kRelu, Activation::kGelu, Activation::kGeluTanh}) {
        spec.activation = activation;
        const auto op = backend_->create<ops::LinearOp>(spec);
        op->forward(device_x, device_w, device_b, {.y = y, .activated = activated});
        backend_->create<ops::ActivationOp>({.count = count, .activation = activation, .type = type})->forward(y, want);
        EXPECT_EQ(bits(activated), bits(want)) << "activation " << static_cast<int>(activation);
        op->forward(device_x, device_w, device_b, {.activated = activated});
        EXPECT_EQ(bits(activated), bits(want)) << "without y, activation " << static_cast<int>(activation);
      }
      expect_close("y", y, reference::linear(spec, x, w, b),
                   rounding_bound(reference::linear(spec, absolute(x), absolute(w), absolute(b)), spec.num_inputs + 1));
    }
  }
}

// The only difference between a layer inside a network and one for logits is the rounding to the type.
TEST_P(LinearTest, ActivatesLogitsInFloat32) {
  LinearSpec spec{70, 16, 24};
  spec.activation = Activation::kGelu;
  for (const DataType type : types()) {
    spec.type = type;
    const DeviceArray x(*backend_, random_array(70 * 16, 1), type), w(*backend_, random_array(16 * 24, 2), type),
        b(*backend_, random_array(24, 3));
    const DeviceArray y(*backend_, 70 * 24), activated(*backend_, 70 * 24), want(*backend_, 70 * 24);
    backend_->create<ops::LinearOp>(spec)->forward(x, w, b, {.y = y, .activated = activated});
    backend_->create<ops::ActivationOp>({.count = 70 * 24, .activation = Activation::kGelu})->forward(y, want);
    EXPECT_EQ(bits(activated), bits(want));
  }
}

/// The bits of y, dx, dw and db, computed in fresh memory.
std::vector<std::vector<std::uint32_t>> results_of(ops::Backend& backend, const LinearSpec& spec) {
  const auto op = backend.create<ops::LinearOp>(spec);
  const std::int64_t x_count = spec.n * spec.num_inputs, y_count = spec.n * spec.num_outputs,
                     w_count = spec.num_outputs * spec.num_inputs;
  const DeviceArray x(backend, random_array(x_count, 1), spec.type), w(backend, random_array(w_count, 2), spec.type),
      b(backend, random_array(spec.num_outputs, 3), spec.y_type), dy(backend, random_array(y_count, 4), spec.type);
  const DeviceArray y(backend, y_count, spec.y_type), dx(backend, x_count, spec.type), dw(backend, w_count),
      db(backend, spec.num_outputs);
  op->forward(x, w, b, {.y = y});
  op->backward_input(dy, w, dx);
  op->backward_weight(x, dy, dw, db);
  return {bits(y), bits(dx), bits(dw), bits(db)};
}

TEST_P(LinearTest, GivesTheSameBitsInEveryRun) {
  const LinearSpec spec{16, 2048, 1000};
  const auto first = results_of(*backend_, spec);
  for (int repeat = 0; repeat < 2; ++repeat) EXPECT_EQ(first, results_of(*another_backend(), spec));
}

// A classifier, layers of a Transformer, a table of words; products that are divided in each dimension.
TEST(LinearOnTheCpu, GivesTheSameBitsForEveryNumberOfThreads) {
  for (const DataType type : {DataType::kFloat32, DataType::kBfloat16}) {
    for (LinearSpec spec :
         {LinearSpec{16, 2048, 1000}, LinearSpec{2100, 70, 100}, LinearSpec{4096, 128, 512}, LinearSpec{4096, 512, 128},
          LinearSpec{512, 128, 5000}, LinearSpec{40, 30000, 8}, LinearSpec{5, 37, 101}, LinearSpec{2500, 9, 70}}) {
      spec.type = type;
      spec.y_type = spec.n > 1000 ? type : DataType::kFloat32;
      SCOPED_TRACE(fmt::format("{} rows, {} inputs, {} outputs, {}", spec.n, spec.num_inputs, spec.num_outputs,
                               to_string(type)));
      std::vector<std::vector<std::uint32_t>> first;
      for (const int threads : {1, 2, 3, 7, 8, 16}) {
        const auto backend = ops::make_backend({.device = DeviceKind::kCpu, .threads = threads});
        const auto results = results_of(*backend, spec);
        if (first.empty()) first = results;
        EXPECT_EQ(first, results) << threads << " threads";
      }
    }
  }
}

CONVOY_RUN_ON_ALL_BACKENDS(LinearTest);

}  // namespace
}  // namespace convoy
