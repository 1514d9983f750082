/// BatchNormOp with two branches against double loops, and against two operations with one; its bits in every run, on
/// any number of threads, and if gradients overwrite their inputs.
#include <algorithm>
#include <cmath>
#include <limits>

#include "unit/ops/batch_norm_pass.h"

namespace convoy {
namespace {

// Rows and tails of every kind, as in BatchNormTest. On a GPU: accesses of one value, of 4, and of 8, which backward
// divides into two.
const std::vector<Shape> kSumShapes = {
    Shape::images(1, 1, 1, 1),     Shape::images(2, 1, 1, 3),    Shape::images(3, 5, 7, 3),
    Shape::images(2, 9, 9, 16),    Shape::images(8, 32, 32, 16), Shape::images(1, 1, 1, 64),
    Shape::images(2, 7, 7, 37),    Shape::images(5, 11, 13, 37), Shape::images(3, 3, 3, 100),
    Shape::images(2, 7, 7, 36),    Shape::images(2, 8, 8, 64),   Shape::images(1, 7, 7, 2048),
    Shape::images(2, 14, 14, 256), Shape::images(3, 10, 10, 72)};

/// Two branches that have nothing in common but dy, which is a's.
struct SumValues {
  explicit SumValues(const Shape& shape, DataType type = DataType::kFloat32)
      : a(shape, type), b(shape, type, -0.25, 2) {
    b.x = rounded(type, random_array(shape.count(), 11, -0.25, 2));
    b.gamma = random_array(shape.c, 13, -0.5, 1);
    b.beta = random_array(shape.c, 14, 0.25, 0.5);
    b.dy = a.dy;
  }

  BatchNormValues a, b;
};

/// The spec of a batch norm of two branches.
BatchNormSpec two_branches(const Shape& shape, DataType type) {
  return {.x = shape, .relu = true, .num_branches = 2, .type = type};
}

/// Forward and backward of one operation on fresh, poisoned memory.
struct SumPass {
  SumPass(ops::Backend& backend, const Shape& shape, const SumValues& values)
      : a(backend, values.a),
        b(backend, values.b),
        dy(backend, values.a.dy, values.a.type),
        y(backend, shape.count(), values.a.type),
        mask(backend, ops::relu_mask_bytes(shape, values.a.type)),
        op(backend.create<ops::BatchNormOp>(two_branches(shape, values.a.type))) {
    forward();
  }

  void forward() { op->forward({.branches = {a.forward_branch(), b.forward_branch()}, .y = y, .mask = mask.data()}); }
  void backward() { backward_to(a.dx, b.dx); }
  void backward_to(void* da, void* db, const void* dy_addend = nullptr) {
    op->backward({.branches = {a.backward_branch(da), b.backward_branch(db)},
                  .dy = dy,
                  .dy_addend = dy_addend,
                  .mask = mask.data()});
  }

  std::vector<std::vector<std::uint32_t>> result_bits() const {
    std::vector<std::vector<std::uint32_t>> all = {bits(y)};
    for (const BatchNormArrays* branch : {&a, &b}) {
      for (auto& statistic : branch->statistic_bits()) all.push_back(std::move(statistic));
      for (auto& gradient : branch->gradient_bits(branch->dx)) all.push_back(std::move(gradient));
    }
    return all;
  }

  BatchNormArrays a, b;
  DeviceArray dy, y;
  DeviceBytes mask;
  std::unique_ptr<ops::BatchNormOp> op;
};

/// Expects the results of b without the ReLU, then of a with b's result as its residual.
void expect_sum(const Shape& shape, const SumValues& values, const SumPass& pass) {
  const auto of_b = reference::batch_norm({shape}, values.b.x, {}, values.b.gamma, values.b.beta);
  const auto of_a = reference::batch_norm({shape, true, true}, values.a.x, of_b.y, values.a.gamma, values.a.beta);
  expect_statistics(values.a, of_a, pass.a.mean, pass.a.inv_std, pass.a.var_unbiased);
  expect_statistics(values.b, of_b, pass.b.mean, pass.b.inv_std, pass.b.var_unbiased);
  Array y_bound(values.a.x.size());
  for (std::size_t i = 0; i < y_bound.size(); ++i)
    y_bound[i] = normalised_tolerance(values.a, of_a, i) + normalised_tolerance(values.b, of_b, i);
  expect_close("y", pass.y, of_a.y, y_bound);
}

/// Expects for each branch the gradients of a batch norm of its own with this y.
void expect_gradients(const Shape& shape, const SumValues& values, const SumPass& pass) {
  for (const bool is_a : {true, false}) {
    SCOPED_TRACE(is_a ? "a" : "b");
    const BatchNormArrays& got = is_a ? pass.a : pass.b;
    expect_backward({shape, true, true}, is_a ? values.a : values.b, pass.y.doubles(), got.mean.doubles(),
                    got.inv_std.doubles(), got.dx, nullptr, got.dgamma, got.dbeta);
    EXPECT_EQ(bits(got.mean_copy), bits(got.mean));
    EXPECT_EQ(bits(got.var_copy), bits(got.var_unbiased));
  }
}

class BatchNormSumTest : public OpTest {
 protected:
  void expect_double_loops(const std::vector<Shape>& shapes) {
    for (const DataType type : types()) {
      for (const Shape& shape : shapes) {
        SCOPED_TRACE(fmt::format("{}, {}", to_string(shape), to_string(type)));
        const SumValues values(shape, type);
        SumPass pass(*backend_, shape, values);
        pass.backward();
        expect_sum(shape, values, pass);
        expect_gradients(shape, values, pass);
      }
    }
  }
};

TEST_P(BatchNormSumTest, EqualsDoubleLoops) {
  expect_double_loops(kSumShapes);
}

// The shapes are so large that a block of a GPU sums several slabs, and that blocks have different numbers of slabs.
TEST_P(BatchNormSumTest, EqualsDoubleLoopsOnManyRows) {
  expect_double_loops({Shape::images(1, 727, 725, 1), Shape::images(1, 231, 229, 32)});
}

// It has the bits of the two operations that it replaces: in float32, nothing is rounded in between.
TEST_P(BatchNormSumTest, HasTheBitsOfTwoBatchNormsInFloat32) {
  for (const Shape& shape : kSumShapes) {
    SCOPED_TRACE(to_string(shape));
    const SumValues values(shape);
    SumPass both(*backend_, shape, values);
    both.backward();
    BatchNormPass b(*backend_, {shape}, values.b);
    BatchNormValues with_b = values.a;
    with_b.residual = b.y.doubles();
    BatchNormPass a(*backend_, {shape, true, true}, with_b);
    a.backward();
    BatchNormValues from_a = values.b;
    from_a.dy = a.dresidual.doubles();
    BatchNormPass back(*backend_, {shape}, from_a);
    back.backward();
    EXPECT_EQ(bits(both.y), bits(a.y));
    EXPECT_EQ(bits(both.a.dx), bits(a.dx));
    EXPECT_EQ(bits(both.b.dx), bits(back.dx));
    EXPECT_EQ(bits(both.a.dgamma), bits(a.dgamma));
    EXPECT_EQ(bits(both.b.dgamma), bits(back.dgamma));
    EXPECT_EQ(bits(both.a.dbeta), bits(a.dbeta));
    EXPECT_EQ(bits(both.b.dbeta), bits(back.dbeta));
  }
}

TEST_P(BatchNormSumTest, ForwardAgainGivesTheSameBits) {
  for (const DataType type : types()) {
    for (const Shape& shape : {Shape::images(3, 5, 7, 3), Shape::images(4, 16, 16, 32)}) {
      SumPass pass(*backend_, shape, SumValues(shape, type));
      const DeviceArray again(*backend_, shape.count(), type);
      pass.op->forward_again({.branches = {pass.a.forward_branch(), pass.b.forward_branch()}, .y = again});
      EXPECT_EQ(bits(again), bits(pass.y));
    }
  }
}

TEST_P(BatchNormSumTest, InferenceUsesTheRunningStatistics) {
  for (const DataType type : types()) {
    for (const Shape& shape : {Shape::images(1, 1, 1, 1), Shape::images(3, 5, 7, 3), Shape::images(2, 9, 9, 37),
                               Shape::images(4, 16, 16, 32)}) {
      SCOPED_TRACE(fmt::format("{}, {}", to_string(shape), to_string(type)));
      const SumValues values(shape, type);
      const Array mean_a = random_array(shape.c, 7), var_a = random_array(shape.c, 8, 2, 1),
                  mean_b = random_array(shape.c, 17), var_b = random_array(shape.c, 18, 3, 2);
      const SumPass pass(*backend_, shape, values);
      const DeviceArray running_mean_a(*backend_, mean_a), running_var_a(*backend_, var_a),
          running_mean_b(*backend_, mean_b), running_var_b(*backend_, var_b), y(*backend_, shape.count(), type);
      const auto branch = [](const BatchNormArrays& of, const float* running_mean, const float* running_var) {
        return ops::BatchNormForward::Branch{
            .x = of.x, .gamma = of.gamma, .beta = of.beta, .running_mean = running_mean, .running_var = running_var};
      };
      pass.op->infer(
          {.branches = {branch(pass.a, running_mean_a, running_var_a), branch(pass.b, running_mean_b, running_var_b)},
           .y = y});
      Array want(values.a.x.size()), bound(values.a.x.size());
      const auto add = [&](const BatchNormValues& of, const Array& mean, const Array& var) {
        for (std::size_t i = 0; i < want.size(); ++i) {
          const std::size_t c = i % mean.size();
          const double scaled = of.gamma[c] * (of.x[i] - mean[c]) / std::sqrt(var[c] + static_cast<double>(1e-5f));
          want[i] += scaled + of.beta[c];
          // Roundings: up to 3 of inv_std, of scale, x - mean, product, and the two sums.
          bound[i] += kRounding * (8 * std::abs(scaled) + 2 * std::abs(of.beta[c]));
        }
      };
      add(values.a, mean_a, var_a);
      add(values.b, mean_b, var_b);
      for (double& value : want) value = std::max(0.0, value);
      expect_close("y", y, want, bound);
    }
  }
}

TEST_P(BatchNormSumTest, BackwardOfInferenceMatchesDoubleLoopsInPlaceToo) {
  for (const DataType type : types()) {
    for (const Shape& shape : kSumShapes) {
      SCOPED_TRACE(fmt::format("{}, {}", to_string(shape), to_string(type)));
      const SumValues values(shape, type);
      const Array var_a = random_array(shape.c, 8, 2, 1), var_b = random_array(shape.c, 18, 3, 2),
                  result = rounded(type, random_array(shape.count(), 9));
      const DeviceArray y(*backend_, result, type), gamma_a(*backend_, values.a.gamma),
          gamma_b(*backend_, values.b.gamma), running_var_a(*backend_, var_a), running_var_b(*backend_, var_b);
      const auto op = backend_->create<ops::BatchNormOp>(two_branches(shape, type));
      const auto run = [&](const void* dy, const void* addend, void* da, void* db) {
        op->infer_backward({.branches = {{.gamma = gamma_a, .running_var = running_var_a, .dx = da},
                                         {.gamma = gamma_b, .running_var = running_var_b, .dx = db}},
                            .dy = dy,
                            .dy_addend = addend,
                            .y = y});
      };
      const BatchNormSpec spec{shape, true, true};
      const auto want_a = reference::batch_norm_inference_gradient(spec, result, values.a.gamma, var_a, values.a.dy);
      const auto want_b = reference::batch_norm_inference_gradient(spec, result, values.b.gamma, var_b, values.a.dy);
      const DeviceArray dy(*backend_, values.a.dy, type), da(*backend_, shape.count(), type),
          db(*backend_, shape.count(), type);
      run(dy, nullptr, da, db);
      // Roundings: variance + epsilon, which the root halves, root, quotient; scale; the product.
      expect_close("da", da, want_a.dx, rounding_bound(absolute(want_a.dx), 5));
      expect_close("db", db, want_b.dx, rounding_bound(absolute(want_b.dx), 5));

      const DeviceArray first(*backend_, values.a.dy, type), second(*backend_, values.a.dy, type),
          other(*backend_, shape.count(), type);
      run(first, nullptr, first, other);
      EXPECT_EQ(bits(da), bits(first));
      EXPECT_EQ(bits(db), bits(other));
      run(second, nullptr, other, second);
      EXPECT_EQ(bits(da), bits(other));
      EXPECT_EQ(bits(db), bits(second));

      // dy in two parts, whose sum is exact: halves of the values that are not so small that a half is rounded.
      Array first_part = values.a.dy, second_part(first_part.size());
      for (std::size_t i = 0; i < first_part.size(); ++i)
        if (std::abs(first_part[i]) > 0x1p-8) second_part[i] = first_part[i] /= 2;
      const DeviceArray half(*backend_, first_part, type), part(*backend_, second_part, type);
      run(half, part, part, half);
      EXPECT_EQ(bits(da), bits(part));
      EXPECT_EQ(bits(db), bits(half));
    }
  }
}

TEST_P(BatchNormSumTest, GradientsMayBeWrittenOverTheIncomingOne) {
  for (const DataType type : types()) {
    for (const Shape& shape : {Shape::images(3, 5, 7, 3), Shape::images(2, 7, 7, 36), Shape::images(4, 16, 16, 32)}) {
      SCOPED_TRACE(fmt::format("{}, {}", to_string(shape), to_string(type)));
      const SumValues values(shape, type);
      SumPass apart(*backend_, shape, values), over_a(*backend_, shape, values), over_b(*backend_, shape, values);
      apart.backward();
      over_a.backward_to(over_a.dy, over_a.b.dx);
      EXPECT_EQ(apart.a.gradient_bits(apart.a.dx), over_a.a.gradient_bits(over_a.dy));
      EXPECT_EQ(apart.b.gradient_bits(apart.b.dx), over_a.b.gradient_bits(over_a.b.dx));
      over_b.backward_to(over_b.a.dx, over_b.dy);
      EXPECT_EQ(apart.a.gradient_bits(apart.a.dx), over_b.a.gradient_bits(over_b.a.dx));
      EXPECT_EQ(apart.b.gradient_bits(apart.b.dx), over_b.b.gradient_bits(over_b.dy));
    }
  }
}

// dy in two parts gives the bits of their sum, whatever memory the results are written to.
TEST_P(BatchNormSumTest, TakesTheGradientInTwoParts) {
  for (const DataType type : types()) {
    for (const Shape& shape : {Shape::images(3, 5, 7, 3), Shape::images(2, 7, 7, 36), Shape::images(4, 16, 16, 32)}) {
      SCOPED_TRACE(fmt::format("{}, {}", to_string(shape), to_string(type)));
      const SumValues values(shape, type);
      SumValues sum(shape, type);
      const Array part = rounded(type, random_array(shape.count(), 6));
      for (std::size_t i = 0; i < part.size(); ++i)
        sum.a.dy[i] = rounded(type, static_cast<double>(static_cast<float>(values.a.dy[i] + part[i])));
      SumPass whole(*backend_, shape, sum);
      whole.backward();
      const auto expect_the_same = [&](const SumPass& parts, const DeviceArray& da, const DeviceArray& db) {
        EXPECT_EQ(whole.a.gradient_bits(whole.a.dx), parts.a.gradient_bits(da));
        EXPECT_EQ(whole.b.gradient_bits(whole.b.dx), parts.b.gradient_bits(db));
      };
      SumPass apart(*backend_, shape, values), over_dy(*backend_, shape, values), over_part(*backend_, shape, values);
      const DeviceArray first(*backend_, part, type), second(*backend_, part, type), third(*backend_, part, type);
      apart.backward_to(apart.a.dx, apart.b.dx, first);
      expect_the_same(apart, apart.a.dx, apart.b.dx);
      over_dy.backward_to(second, over_dy.dy, second);
      expect_the_same(over_dy, second, over_dy.dy);
      over_part.backward_to(over_part.dy, third, third);
      expect_the_same(over_part, over_part.dy, third);
    }
  }
}

TEST_P(BatchNormSumTest, NaNInAChannelOfABranchStaysInIt) {
  const Shape shape = Shape::images(2, 9, 9, 37);
  for (const DataType type : types()) {
    SumValues values(shape, type);
    values.b.x[37 * 50 + 5] = std::numeric_limits<double>::quiet_NaN();
    const SumPass pass(*backend_, shape, values);
    const std::vector<float> y = pass.y.values();
    for (std::size_t i = 0; i < y.size(); ++i) EXPECT_EQ(std::isnan(y[i]), i % 37 == 5) << i;
  }
}

// Arguments of the ReLU around the smallest positive value of the type, half of which is rounded to 0: if forward
// stored a 0, there is no gradient. With dy = 1, dbeta is exactly the number of the others.
TEST_P(BatchNormSumTest, BackwardMasksWhatForwardRoundedToZero) {
  const Shape shape = Shape::images(4, 8, 8, 16);
  for (const DataType type : types()) {
    if (type == DataType::kFloat32) continue;
    SCOPED_TRACE(to_string(type));
    SumValues values(shape, type);
    for (std::size_t c = 0; c < 16; ++c) {
      values.a.gamma[c] = values.b.gamma[c] = 0;
      values.a.beta[c] = static_cast<double>(c) / 8 * reference::decoded(type, 1);  // 4 of 8 are a tie, which goes to 0
      values.b.beta[c] = 0;
    }
    for (double& value : values.a.dy) value = 1;
    SumPass pass(*backend_, shape, values);
    pass.backward();
    const std::vector<float> positive = pass.b.dbeta.values();
    for (std::size_t c = 0; c < 16; ++c) EXPECT_EQ(positive[c], c <= 4 ? 0.0f : 256.0f) << c;
  }
}

// The runs are of one operation, with others of the backend in between, and of a new operation.
TEST_P(BatchNormSumTest, GivesTheSameBitsInEveryRun) {
  for (const DataType type : types()) {
    for (const Shape& shape :
         {Shape::images(8, 32, 32, 16), Shape::images(5, 11, 13, 37), Shape::images(2, 14, 14, 256)}) {
      SCOPED_TRACE(fmt::format("{}, {}", to_string(shape), to_string(type)));
      const SumValues values(shape, type);
      SumPass first(*backend_, shape, values);
      first.backward();
      const auto results = first.result_bits();
      const auto backend = another_backend();
      SumPass second(*backend, shape, values);
      second.backward();
      EXPECT_EQ(results, second.result_bits());
      const Shape large = Shape::images(1, 4, 4, 2048);
      SumPass other(*backend, large, SumValues(large));
      for (int run = 0; run < 2; ++run) {
        second.forward();
        second.forward();
        second.backward();
        EXPECT_EQ(results, second.result_bits()) << run;
      }
    }
  }
}

TEST(BatchNormSumOnTheCpu, GivesTheSameBitsForEveryNumberOfThreads) {
  for (const DataType type : {DataType::kFloat32, DataType::kBfloat16}) {
    for (const Shape& shape :
         {Shape::images(8, 32, 32, 16), Shape::images(5, 11, 13, 37), Shape::images(2, 14, 14, 256)}) {
      SCOPED_TRACE(fmt::format("{}, {}", to_string(shape), to_string(type)));
      const SumValues values(shape, type);
      std::vector<std::vector<std::uint32_t>> first;
      for (const std::int64_t threads : {1, 2, 3}) {
        const auto backend = ops::make_backend({.device = DeviceKind::kCpu, .threads = threads});
        SumPass pass(*backend, shape, values);
        pass.backward();
        if (first.empty()) first = pass.result_bits();
        EXPECT_EQ(first, pass.result_bits()) << threads << " threads";
      }
    }
  }
}

CONVOY_RUN_ON_ALL_BACKENDS(BatchNormSumTest);

}  // namespace
}  // namespace convoy
