/// BatchNormOp against double loops, in training and in inference.
#include <algorithm>
#include <cmath>

#include "unit/ops/batch_norm_pass.h"

namespace convoy {
namespace {

// Rows and tails of every kind: fewer pixels than a row has, exactly a row, many blocks, wide rows, odd channels.
// On a GPU: accesses of one value, of 4 and of 16 bytes; full and partly filled tiles; whole and incomplete slabs.
const std::vector<Shape> kShapes = {
    Shape::images(1, 1, 1, 1),    Shape::images(2, 1, 1, 3),     Shape::images(1, 8, 8, 1),
    Shape::images(3, 5, 7, 3),    Shape::images(2, 9, 9, 16),    Shape::images(8, 32, 32, 16),
    Shape::images(1, 1, 1, 64),   Shape::images(4, 16, 16, 32),  Shape::images(2, 7, 7, 37),
    Shape::images(5, 11, 13, 37), Shape::images(3, 3, 3, 100),   Shape::images(2, 8, 8, 64),
    Shape::images(1, 7, 7, 2048), Shape::images(2, 14, 14, 256), Shape::images(3, 10, 10, 72)};

class BatchNormTest : public OpTest {};

TEST_P(BatchNormTest, EqualsDoubleLoops) {
  for (const DataType type : types()) {
    for (const Shape& shape : kShapes) {
      const BatchNormValues values(shape, type);
      for (const bool relu : {false, true}) {
        for (const bool residual : {false, true}) {
          SCOPED_TRACE(fmt::format("{}, relu {}, residual {}, {}", to_string(shape), relu, residual, to_string(type)));
          const BatchNormSpec spec{shape, relu, residual};
          BatchNormPass run(*backend_, spec, values);
          run.backward();
          expect_forward(spec, values, run.y, run.mean, run.inv_std, run.var_unbiased);
          expect_backward(spec, values, run.y.doubles(), run.mean.doubles(), run.inv_std.doubles(), run.dx,
                          residual ? &run.dresidual : nullptr, run.dgamma, run.dbeta);
          EXPECT_EQ(bits(run.mean_copy), bits(run.mean));
          EXPECT_EQ(bits(run.var_copy), bits(run.var_unbiased));
        }
      }
    }
  }
}

// The shapes are so large that a block of a GPU sums several slabs, and that blocks have different numbers of slabs.
TEST_P(BatchNormTest, EqualsDoubleLoopsOnManyRows) {
  for (const DataType type : types()) {
    for (const Shape& shape : {Shape::images(1, 727, 725, 1), Shape::images(1, 231, 229, 32)}) {
      SCOPED_TRACE(fmt::format("{}, {}", to_string(shape), to_string(type)));
      const BatchNormValues values(shape, type);
      const BatchNormSpec spec{shape, true, false};
      BatchNormPass run(*backend_, spec, values);
      run.backward();
      expect_forward(spec, values, run.y, run.mean, run.inv_std, run.var_unbiased);
      expect_backward(spec, values, run.y.doubles(), run.mean.doubles(), run.inv_std.doubles(), run.dx, nullptr,
                      run.dgamma, run.dbeta);
    }
  }
}

TEST_P(BatchNormTest, InferenceUsesTheRunningStatistics) {
  for (const DataType type : types()) {
    for (const Shape& shape : {Shape::images(1, 1, 1, 1), Shape::images(3, 5, 7, 3), Shape::images(2, 9, 9, 37),
                               Shape::images(4, 16, 16, 32)}) {
      SCOPED_TRACE(fmt::format("{}, {}", to_string(shape), to_string(type)));
      const BatchNormValues values(shape, type);
      const Array mean = random_array(shape.c, 7), var = random_array(shape.c, 8, 2, 1);
      const DeviceArray x(*backend_, values.x, type), residual(*backend_, values.residual, type),
          gamma(*backend_, values.gamma), beta(*backend_, values.beta), running_mean(*backend_, mean),
          running_var(*backend_, var);
      for (const bool relu : {false, true}) {
        for (const bool join : {false, true}) {
          const DeviceArray y(*backend_, shape.count(), type);
          const float epsilon = join ? 1e-5f : 0.5f;
          backend_
              ->create<ops::BatchNormOp>({.x = shape, .relu = relu, .residual = join, .epsilon = epsilon, .type = type})
              ->infer({.branches = {{.x = x,
                                     .gamma = gamma,
                                     .beta = beta,
                                     .running_mean = running_mean,
                                     .running_var = running_var}},
                       .residual = join ? residual.data() : nullptr,
                       .y = y});
          Array want(values.x.size()), bound(values.x.size());
          for (std::size_t i = 0; i < want.size(); ++i) {
            const std::size_t c = i % mean.size();
            const double scaled = values.gamma[c] * (values.x[i] - mean[c]) / std::sqrt(var[c] + double{epsilon});
            want[i] = scaled + values.beta[c] + (join ? values.residual[i] : 0);
            if (relu) want[i] = std::max(0.0, want[i]);
            // Roundings: up to 3 of inv_std, of scale, x - mean, product, and the two sums.
            bound[i] = kRounding * (8 * std::abs(scaled) + 2 * std::abs(values.beta[c]) + std::abs(values.residual[i]));
          }
          expect_close("y", y, want, bound);
        }
      }
    }
  }
}

TEST_P(BatchNormTest, BackwardOfInferenceMatchesDoubleLoopsInPlaceToo) {
  for (const DataType type : types()) {
    for (const Shape& shape : kShapes) {
      const BatchNormValues values(shape, type);
      const Array var = random_array(shape.c, 8, 2, 1), mask = rounded(type, random_array(shape.count(), 9));
      const DeviceArray y(*backend_, mask, type), gamma(*backend_, values.gamma), running_var(*backend_, var);
      for (const bool relu : {false, true}) {
        for (const bool join : {false, true}) {
          SCOPED_TRACE(fmt::format("{}, {}, relu {}, residual {}", to_string(shape), to_string(type), relu, join));
          const BatchNormSpec spec{
              .x = shape, .relu = relu, .residual = join, .epsilon = join ? 1e-5f : 0.5f, .type = type};
          const auto want = reference::batch_norm_inference_gradient(spec, mask, values.gamma, var, values.dy);
          const auto op = backend_->create<ops::BatchNormOp>(spec);
          const DeviceArray dy(*backend_, values.dy, type), dx(*backend_, shape.count(), type),
              dresidual(*backend_, shape.count(), type);
          const auto run = [&](const void* from, void* to_dx, void* to_dresidual) {
            op->infer_backward({.branches = {{.gamma = gamma, .running_var = running_var, .dx = to_dx}},
                                .dy = from,
                                .y = y,
                                .dresidual = to_dresidual});
          };
          run(dy, dx, join ? dresidual.data() : nullptr);
          // Roundings: variance + epsilon, which the root halves, root, quotient; scale; the product.
          expect_close("dx", dx, want.dx, rounding_bound(absolute(want.dx), 5));
          if (join) expect_close("dresidual", dresidual, want.dresidual, Array(values.dy.size()));  // copied

          const DeviceArray in_place(*backend_, values.dy, type), other(*backend_, shape.count(), type);
          run(in_place, join ? other.data() : in_place.data(), join ? in_place.data() : nullptr);
          EXPECT_EQ(bits(dx), bits(join ? other : in_place));
          if (join) {
            EXPECT_EQ(bits(dresidual), bits(in_place));
          }
        }
      }
    }
  }
}

// Variances of 1e-4, to which an epsilon of 1e-3 adds more than it finds.
TEST_P(BatchNormTest, AddsTheEpsilonOfItsSpec) {
  for (const DataType type : types()) {
    const BatchNormSpec spec{.x = Shape::images(4, 7, 9, 32), .epsilon = 1e-3f, .type = type};
    BatchNormValues values(spec.x, type);
    for (double& value : values.x) value *= 0.01;
    values.x = rounded(type, values.x);
    const BatchNormPass pass(*backend_, spec, values);
    expect_forward(spec, values, pass.y, pass.mean, pass.inv_std, pass.var_unbiased);
  }
}

CONVOY_RUN_ON_ALL_BACKENDS(BatchNormTest);

}  // namespace
}  // namespace convoy
