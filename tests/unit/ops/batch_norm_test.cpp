/// BatchNormOp against double loops, its robustness, and its independence of threads, runs and aliases.
#include "reference/batch_norm.h"

#include <algorithm>

#include "unit/ops/op_test.h"

namespace convoy {
namespace {

using ops::BatchNormGradInputs;
using ops::BatchNormSpec;

// Rows and tails of every kind: fewer pixels than a row holds, exactly a row, many blocks, wide rows, odd channels.
// On a GPU: accesses of one value, of 4 and of 16 bytes; tiles that C fills and does not; slabs whole and ragged.
const std::vector<Shape> kShapes = {{1, 1, 1, 1},    {2, 1, 1, 3},  {1, 8, 8, 1},    {3, 5, 7, 3},     {2, 9, 9, 16},
                                    {8, 32, 32, 16}, {1, 1, 1, 64}, {4, 16, 16, 32}, {2, 7, 7, 37},    {5, 11, 13, 37},
                                    {3, 3, 3, 100},  {2, 8, 8, 64}, {1, 7, 7, 2048}, {2, 14, 14, 256}, {3, 10, 10, 72}};

/// x in [center - radius, center + radius], stored in `type`.
struct Values {
  explicit Values(const Shape& shape, DataType storage = DataType::kFloat32, double center = 0.5, double half_width = 1)
      : type(storage),
        radius(half_width + reference::rounding_error(type, std::abs(center) + half_width)),
        x(rounded(type, random_array(shape.count(), 1, center, half_width))),
        residual(rounded(type, random_array(shape.count(), 2))),
        gamma(random_array(shape.c, 3, 1, 0.5)),
        beta(random_array(shape.c, 4, 0, 0.5)),
        dy(rounded(type, random_array(shape.count(), 5))) {}

  DataType type;
  double radius;
  Array x, residual, gamma, beta, dy;
};

/// A value passes through at most so many float32 additions. On the CPU 3 of a group of 8 rows, 128 / 8 groups of a
/// block, one for good measure; on a GPU those of a thread, at most 12 rows at these sizes. All others are made in
/// double.
constexpr double kAdditions = 20;

/// |float32 mean - mean|: values less their shift are at most 2 radius; then the mean is rounded, on a GPU first those
/// of the blocks, which are a radius from it.
double mean_tolerance(const Values& values, double mean) {
  return kRounding * (kAdditions * 2 * values.radius + 2 * std::abs(mean) + values.radius);
}

/// Relative, of inv_std: half of the variance's, which sums squares of at most (2 radius)^2 + var, and the roundings of
/// subtraction, square and result.
double inv_std_tolerance(const Values& values, double inv_std) {
  return kRounding * (0.5 * (kAdditions + 3) * (1 + std::pow(2 * values.radius * inv_std, 2)) + 1);
}

void expect_forward(const BatchNormSpec& spec, const Values& values, const DeviceArray& y, const DeviceArray& mean,
                    const DeviceArray& inv_std, const DeviceArray& var_unbiased) {
  const auto want = reference::batch_norm(spec, values.x, values.residual, values.gamma, values.beta);
  const std::size_t channels = want.mean.size();
  Array mean_bound(channels), inv_std_bound(channels), var_bound(channels), y_bound(values.x.size());
  for (std::size_t c = 0; c < channels; ++c) {
    mean_bound[c] = mean_tolerance(values, want.mean[c]);
    inv_std_bound[c] = inv_std_tolerance(values, want.inv_std[c]) * want.inv_std[c];
    // The bound of the variance, relative to var + epsilon, which 1 / inv_std^2 is.
    var_bound[c] =
        2 * inv_std_tolerance(values, want.inv_std[c]) * (want.var_unbiased[c] + 1 / std::pow(want.inv_std[c], 2));
  }
  for (std::size_t i = 0; i < values.x.size(); ++i) {
    const std::size_t c = i % channels;
    const double slope = std::abs(values.gamma[c]) * want.inv_std[c],
                 scaled = slope * std::abs(values.x[i] - want.mean[c]);
    // y = (x - mean) * (gamma * inv_std) + beta + residual: errors of mean and inv_std, and a rounding an operation
    y_bound[i] = slope * mean_bound[c] + scaled * (inv_std_tolerance(values, want.inv_std[c]) + 5 * kRounding) +
                 2 * kRounding * (std::abs(values.beta[c]) + std::abs(values.residual[i]));
  }
  expect_close("mean", mean, want.mean, mean_bound);
  expect_close("inv_std", inv_std, want.inv_std, inv_std_bound);
  expect_close("var_unbiased", var_unbiased, want.var_unbiased, var_bound);
  expect_close("y", y, want.y, y_bound);
}

/// Against the reference fed with the device's own mean, inv_std and y: one ULP of the mean may otherwise move a value
/// across the ReLU's kink.
void expect_backward(const BatchNormSpec& spec, const Values& values, const Array& y, const Array& mean,
                     const Array& inv_std, const DeviceArray& dx, const DeviceArray* dresidual,
                     const DeviceArray& dgamma, const DeviceArray& dbeta) {
  const auto want = reference::batch_norm_gradient(spec, values.x, values.gamma, {{}, mean, inv_std, {}, y}, values.dy);
  const auto count = static_cast<double>(spec.x.pixels());
  const std::size_t channels = mean.size();
  // Of g * (x - mean) and inv_std: 4 roundings beside the additions.
  const Array dgamma_bound = rounding_bound(want.scale_of_dgamma, static_cast<std::int64_t>(kAdditions) + 4);
  const Array dbeta_bound = rounding_bound(want.scale_of_dbeta, static_cast<std::int64_t>(kAdditions) + 1);
  Array dx_bound(values.x.size());
  for (std::size_t i = 0; i < values.x.size(); ++i) {
    const std::size_t c = i % channels;
    const double xhat = std::abs((values.x[i] - mean[c]) * inv_std[c]);
    const double terms =
        std::abs(want.dresidual[i]) + std::abs(want.dbeta[c]) / count + xhat * std::abs(want.dgamma[c]) / count;
    dx_bound[i] = std::abs(values.gamma[c]) * inv_std[c] *
                  (8 * kRounding * terms + (dbeta_bound[c] + xhat * dgamma_bound[c]) / count);
  }
  expect_close("dgamma", dgamma, want.dgamma, dgamma_bound);
  expect_close("dbeta", dbeta, want.dbeta, dbeta_bound);
  expect_close("dx", dx, want.dx, dx_bound);
  if (dresidual != nullptr) expect_close("dresidual", *dresidual, want.dresidual, Array(values.x.size()));  // copied
}

/// Forward and backward of one operation on fresh, poisoned memory.
struct Pass {
  Pass(ops::Library& library, BatchNormSpec spec, const Values& values)
      : x(library, values.x, values.type),
        residual(library, values.residual, values.type),
        gamma(library, values.gamma),
        beta(library, values.beta),
        dy(library, values.dy, values.type),
        y(library, spec.x.count(), values.type),
        mean(library, spec.x.c),
        inv_std(library, spec.x.c),
        var_unbiased(library, spec.x.c),
        dx(library, spec.x.count(), values.type),
        dresidual(library, spec.x.count(), values.type),
        dgamma(library, spec.x.c),
        dbeta(library, spec.x.c),
        mean_copy(library, spec.x.c),
        var_copy(library, spec.x.c),
        joins(spec.residual) {
    spec.type = values.type;
    op = library.batch_norm(spec);
    forward();
  }

  BatchNormGradInputs gradient_inputs() const { return {dy, x, y, gamma, beta, mean, inv_std, var_unbiased}; }

  void forward() { op->forward({x, joins ? residual.data() : nullptr, gamma, beta}, {y, mean, inv_std, var_unbiased}); }
  void backward() { backward_to(dx, joins ? dresidual.data() : nullptr); }
  void backward_to(void* to_dx, void* to_dresidual) {
    op->backward(gradient_inputs(), {to_dx, to_dresidual, dgamma, dbeta, mean_copy, var_copy});
  }

  std::vector<std::vector<std::uint32_t>> result_bits() const {
    return {bits(y),  bits(mean),      bits(inv_std), bits(var_unbiased),
            bits(dx), bits(dresidual), bits(dgamma),  bits(dbeta)};
  }

  DeviceArray x, residual, gamma, beta, dy;
  DeviceArray y, mean, inv_std, var_unbiased;
  DeviceArray dx, dresidual, dgamma, dbeta, mean_copy, var_copy;
  bool joins;
  std::unique_ptr<ops::BatchNormOp> op;
};

class BatchNormTest : public OpTest {};

TEST_P(BatchNormTest, EqualsDoubleLoops) {
  for (const DataType type : types()) {
    for (const Shape& shape : kShapes) {
      const Values values(shape, type);
      for (const bool relu : {false, true}) {
        for (const bool residual : {false, true}) {
          SCOPED_TRACE(fmt::format("{}, relu {}, residual {}, {}", to_string(shape), relu, residual, to_string(type)));
          const BatchNormSpec spec{shape, relu, residual};
          Pass run(*library_, spec, values);
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

// So large that a block of a GPU sums several slabs, and not all blocks as many.
TEST_P(BatchNormTest, EqualsDoubleLoopsOnManyRows) {
  for (const DataType type : types()) {
    for (const Shape& shape : {Shape{1, 727, 725, 1}, Shape{1, 231, 229, 32}}) {
      SCOPED_TRACE(fmt::format("{}, {}", to_string(shape), to_string(type)));
      const Values values(shape, type);
      const BatchNormSpec spec{shape, true, false};
      Pass run(*library_, spec, values);
      run.backward();
      expect_forward(spec, values, run.y, run.mean, run.inv_std, run.var_unbiased);
      expect_backward(spec, values, run.y.doubles(), run.mean.doubles(), run.inv_std.doubles(), run.dx, nullptr,
                      run.dgamma, run.dbeta);
    }
  }
}

// What a convolution that sums its output hands on.
TEST_P(BatchNormTest, TakesTheStatisticsFromSumsWhereTheyAreGiven) {
  const Shape shape{4, 9, 9, 37};
  for (const DataType type : types()) {
    if (type == DataType::kFloat32) continue;  // nobody gives them
    SCOPED_TRACE(to_string(type));
    const Values values(shape, type);
    Pass pass(*library_, {shape, true, false}, values);
    Array sums(37), squares(37);
    for (std::size_t i = 0; i < values.x.size(); ++i) {
      sums[i % 37] += values.x[i];
      squares[i % 37] += values.x[i] * values.x[i];
    }
    const auto want = reference::batch_norm({shape, true, false}, values.x, values.residual, values.gamma, values.beta);
    const auto count = static_cast<double>(shape.pixels());
    Array mean_bound(37), var_bound(37);
    for (std::size_t c = 0; c < 37; ++c) {
      // The sums are rounded to float32 on their way in, the results on their way out.
      mean_bound[c] = 2 * kRounding * std::abs(sums[c]) / count;
      var_bound[c] = 4 * kRounding * (squares[c] + 2 * sums[c] * sums[c] / count) / (count - 1);
    }
    const DeviceArray sum(*library_, sums), square_sum(*library_, squares);
    pass.op->forward({pass.x, nullptr, pass.gamma, pass.beta, sum, square_sum},
                     {pass.y, pass.mean, pass.inv_std, pass.var_unbiased});
    expect_close("mean", pass.mean, want.mean, mean_bound);
    expect_close("var_unbiased", pass.var_unbiased, want.var_unbiased, var_bound);
    const Array y = pass.y.doubles();
    // x - mean is near 1, times gamma * inv_std below 3: both errors together are far below the storage's rounding.
    for (std::size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(y[i], want.y[i], 0x1p-7 * (1 + std::abs(want.y[i])));
  }
}

TEST_P(BatchNormTest, MeanOf100WithDeviationOfATenthIsExactEnough) {
  for (const DataType type : types()) {
    for (const Shape& shape : {Shape{8, 32, 32, 16}, Shape{4, 9, 9, 37}, Shape{2, 14, 14, 256}}) {
      SCOPED_TRACE(fmt::format("{}, {}", to_string(shape), to_string(type)));
      const Values values(shape, type, 100, 0.1 * std::sqrt(3.0));
      const BatchNormSpec spec{shape, true, false};
      const Pass run(*library_, spec, values);
      expect_forward(spec, values, run.y, run.mean, run.inv_std, run.var_unbiased);
    }
  }
}

TEST_P(BatchNormTest, AConstantChannelHasExactlyNoVariance) {
  const Shape shape{4, 16, 16, 16};
  for (const DataType type : types()) {
    Values values(shape, type);
    const double constant = rounded(type, static_cast<double>(12345.678f));
    for (std::size_t i = 3; i < values.x.size(); i += 16) values.x[i] = constant;
    const Pass pass(*library_, {shape}, values);
    EXPECT_EQ(pass.mean.doubles()[3], constant);
    EXPECT_EQ(pass.var_unbiased.values()[3], 0.0f);
  }
}

// The first row of a block is its shift: an outlier there must not cost the other values their digits.
TEST_P(BatchNormTest, AnOutlierInTheFirstRowCostsNoDigits) {
  const Shape shape{4, 16, 16, 16};
  for (const DataType type : types()) {
    Values values(shape, type);
    // The first row of a block on the CPU and on a GPU, where a block has at most 512 rows here.
    for (const std::size_t row : {0, 512}) values.x[16 * row + 5] = rounded(type, 1e4);
    const auto want = reference::batch_norm({shape}, values.x, {}, values.gamma, values.beta);
    const Pass pass(*library_, {shape}, values);
    // A block of r rows sums r - 1 squares of 1e8, of which all but one cancel against the square of the sum; both
    // carry the roundings of a addition and a square, the sum's twice. r = 32 and a = kAdditions on the CPU, 512 and 4
    // on a GPU, whose 5 * 511 is the larger. Two such blocks; the variance is a sum over 1024 values.
    const double tolerance = 2 * 3 * 5 * kRounding * 511 * 1e8 / 1023;
    EXPECT_NEAR(pass.var_unbiased.values()[5], want.var_unbiased[5], tolerance);
  }
}

TEST_P(BatchNormTest, NaNInOneChannelStaysInIt) {
  const Shape shape{2, 9, 9, 37};
  for (const DataType type : types()) {
    Values values(shape, type);
    values.x[37 * 50 + 5] = std::numeric_limits<double>::quiet_NaN();
    const Pass run(*library_, {shape, true, false}, values);
    const std::vector<float> y = run.y.values();
    for (std::size_t i = 0; i < y.size(); ++i) EXPECT_EQ(std::isnan(y[i]), i % 37 == 5) << i;
  }
}

// Values a few ULPs around a mean of 100, where one rounding more or less decides the sign of the ReLU's argument. With
// dy = 1, dbeta counts the positive ones, exactly.
TEST_P(BatchNormTest, BackwardMasksExactlyWhereForwardGaveZero) {
  for (const Shape& shape : {Shape{5, 11, 13, 37}, Shape{5, 11, 13, 24}}) {
    Values values(shape, DataType::kFloat32, 100, 50 * 0x1p-17);
    for (double& value : values.beta) value *= 1e-3;
    for (double& value : values.dy) value = 1;
    Pass pass(*library_, {shape, true, false}, values);
    pass.backward();
    std::vector<float> positive(index(shape.c));
    const std::vector<float> y = pass.y.values();
    for (std::size_t i = 0; i < y.size(); ++i) positive[i % positive.size()] += y[i] > 0 ? 1.0f : 0.0f;
    EXPECT_EQ(pass.dbeta.values(), positive);
  }
}

// Arguments of the ReLU around the smallest positive value of the type, half of which is rounded to 0: there is no
// gradient where forward stored a 0.
TEST_P(BatchNormTest, BackwardMasksWhatForwardRoundedToZero) {
  const Shape shape{4, 8, 8, 16};
  for (const DataType type : types()) {
    if (type == DataType::kFloat32) continue;
    SCOPED_TRACE(to_string(type));
    const double smallest = reference::decoded(type, 1);
    Values values(shape, type);
    for (std::size_t c = 0; c < 16; ++c) {
      values.gamma[c] = 0;
      values.beta[c] = static_cast<double>(c) / 8 * smallest;  // 4 of 8 are a tie, which goes to 0
    }
    for (double& value : values.dy) value = 1;
    Pass pass(*library_, {shape, true, false}, values);
    pass.backward();
    std::vector<float> positive(16);
    const std::vector<float> y = pass.y.values();
    for (std::size_t i = 0; i < y.size(); ++i) positive[i % 16] += y[i] > 0 ? 1.0f : 0.0f;
    EXPECT_EQ(pass.dbeta.values(), positive);
    EXPECT_EQ(positive[4], 0.0f);
    EXPECT_EQ(positive[5], 256.0f);
  }
}

TEST_P(BatchNormTest, GradientsMayBeWrittenOverTheIncomingOne) {
  for (const DataType type : types()) {
    for (const Shape& shape : {Shape{3, 5, 7, 3}, Shape{4, 16, 16, 32}}) {
      const Values values(shape, type);
      for (const bool relu : {false, true}) {
        Pass plain(*library_, {shape, relu, false}, values), in_place(*library_, {shape, relu, false}, values);
        plain.backward();
        in_place.backward_to(in_place.dy, nullptr);
        EXPECT_EQ(bits(plain.dx), bits(in_place.dy));
        EXPECT_EQ(bits(plain.dgamma), bits(in_place.dgamma));

        const BatchNormSpec joining{shape, relu, true};
        Pass joined(*library_, joining, values), dx_in_place(*library_, joining, values),
            dresidual_in_place(*library_, joining, values);
        joined.backward();
        dx_in_place.backward_to(dx_in_place.dy, dx_in_place.dresidual);
        EXPECT_EQ(bits(joined.dx), bits(dx_in_place.dy));
        EXPECT_EQ(bits(joined.dresidual), bits(dx_in_place.dresidual));
        EXPECT_EQ(bits(joined.dgamma), bits(dx_in_place.dgamma));
        dresidual_in_place.backward_to(dresidual_in_place.dx, dresidual_in_place.dy);
        EXPECT_EQ(bits(joined.dx), bits(dresidual_in_place.dx));
        EXPECT_EQ(bits(joined.dresidual), bits(dresidual_in_place.dy));
        EXPECT_EQ(bits(joined.dgamma), bits(dresidual_in_place.dgamma));
      }
    }
  }
}

// Run after run of one operation, as others of the library come in between, and of a new one.
TEST_P(BatchNormTest, GivesTheSameBitsInEveryRun) {
  for (const DataType type : types()) {
    for (const Shape& shape : {Shape{8, 32, 32, 16}, Shape{5, 11, 13, 37}, Shape{2, 14, 14, 256}}) {
      SCOPED_TRACE(fmt::format("{}, {}", to_string(shape), to_string(type)));
      const Values values(shape, type);
      const BatchNormSpec spec{shape, true, true};
      Pass first(*library_, spec, values);
      first.backward();
      const auto results = first.result_bits();
      const auto library = another_library();
      Pass second(*library, spec, values);
      second.backward();
      EXPECT_EQ(results, second.result_bits());
      Pass other(*library, {{1, 4, 4, 2048}}, Values({1, 4, 4, 2048}));
      for (int run = 0; run < 2; ++run) {
        second.forward();
        second.forward();
        second.backward();
        EXPECT_EQ(results, second.result_bits()) << run;
      }
    }
  }
}

// Blocks follow from the shape alone: more than the contract asks for.
TEST(BatchNormOnTheCpu, GivesTheSameBitsForEveryNumberOfThreads) {
  for (const DataType type : {DataType::kFloat32, DataType::kBfloat16}) {
    for (const Shape& shape : {Shape{8, 32, 32, 16}, Shape{5, 11, 13, 37}, Shape{2, 14, 14, 256}}) {
      SCOPED_TRACE(fmt::format("{}, {}", to_string(shape), to_string(type)));
      const Values values(shape, type);
      std::vector<std::vector<std::uint32_t>> first;
      for (const std::int64_t threads : {1, 2, 3}) {
        const auto library = ops::make_library({.device = DeviceKind::kCpu, .threads = threads});
        Pass pass(*library, {shape, true, true}, values);
        pass.backward();
        if (first.empty()) first = pass.result_bits();
        EXPECT_EQ(first, pass.result_bits()) << threads << " threads";
      }
    }
  }
}

TEST_P(BatchNormTest, InferenceUsesTheRunningStatistics) {
  for (const DataType type : types()) {
    for (const Shape& shape : {Shape{1, 1, 1, 1}, Shape{3, 5, 7, 3}, Shape{2, 9, 9, 37}, Shape{4, 16, 16, 32}}) {
      SCOPED_TRACE(fmt::format("{}, {}", to_string(shape), to_string(type)));
      const Values values(shape, type);
      const Array mean = random_array(shape.c, 7), var = random_array(shape.c, 8, 2, 1);
      const DeviceArray x(*library_, values.x, type), residual(*library_, values.residual, type),
          gamma(*library_, values.gamma), beta(*library_, values.beta), running_mean(*library_, mean),
          running_var(*library_, var);
      for (const bool relu : {false, true}) {
        for (const bool join : {false, true}) {
          const DeviceArray y(*library_, shape.count(), type);
          library_->batch_norm({shape, relu, join, 1e-5f, type})
              ->infer({x, join ? residual.data() : nullptr, gamma, beta, running_mean, running_var, y});
          Array want(values.x.size()), bound(values.x.size());
          for (std::size_t i = 0; i < want.size(); ++i) {
            const std::size_t c = i % mean.size();
            const double scaled =
                values.gamma[c] * (values.x[i] - mean[c]) / std::sqrt(var[c] + static_cast<double>(1e-5f));
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
      const Values values(shape, type);
      const Array var = random_array(shape.c, 8, 2, 1), mask = rounded(type, random_array(shape.count(), 9));
      const DeviceArray y(*library_, mask, type), gamma(*library_, values.gamma), running_var(*library_, var);
      for (const bool relu : {false, true}) {
        for (const bool join : {false, true}) {
          SCOPED_TRACE(fmt::format("{}, {}, relu {}, residual {}", to_string(shape), to_string(type), relu, join));
          const BatchNormSpec spec{shape, relu, join, 1e-5f, type};
          const auto want = reference::batch_norm_inference_gradient(spec, mask, values.gamma, var, values.dy);
          const auto op = library_->batch_norm(spec);
          const DeviceArray dy(*library_, values.dy, type), dx(*library_, shape.count(), type),
              dresidual(*library_, shape.count(), type);
          op->infer_backward({dy, y, gamma, running_var, dx, join ? dresidual.data() : nullptr});
          // Roundings: variance + epsilon, which the root halves, root, quotient; scale; the product.
          expect_close("dx", dx, want.dx, rounding_bound(absolute(want.dx), 5));
          if (join) expect_close("dresidual", dresidual, want.dresidual, Array(values.dy.size()));  // copied

          const DeviceArray in_place(*library_, values.dy, type), other(*library_, shape.count(), type);
          op->infer_backward({in_place, y, gamma, running_var, join ? other.data() : in_place.data(),
                              join ? in_place.data() : nullptr});
          EXPECT_EQ(bits(dx), bits(join ? other : in_place));
          if (join) {
            EXPECT_EQ(bits(dresidual), bits(in_place));
          }
        }
      }
    }
  }
}

CONVOY_RUN_ON_ALL_LIBRARIES(BatchNormTest);

}  // namespace
}  // namespace convoy
