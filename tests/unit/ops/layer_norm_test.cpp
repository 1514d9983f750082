/// LayerNormOp against its definition.
#include "reference/layer_norm.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "convoy/ops/elementwise.h"

#include "unit/ops/op_test.h"

namespace convoy {
namespace {

using ops::LayerNormSpec;
using reference::LayerNormResult;

/// The inputs of an operation: values that the type represents, and mean and inv_std that float32 represents.
struct Values {
  explicit Values(const LayerNormSpec& spec, double center = 0, double radius = 1)
      : x(rounded(spec.type, random_array(count(spec), 1, center, radius))),
        gamma(random_array(spec.width, 2, 1, 0.5)),
        beta(random_array(spec.width, 3)),
        dy(rounded(spec.type, random_array(count(spec), 4))),
        dx_before(rounded(spec.type, random_array(count(spec), 5))),
        forward(reference::layer_norm(spec, x, gamma, beta)),
        given{{}, rounded(DataType::kFloat32, forward.mean), rounded(DataType::kFloat32, forward.inv_std)} {}

  static std::int64_t count(const LayerNormSpec& spec) { return spec.num_rows * spec.num_pixels * spec.width; }

  Array x, gamma, beta, dy, dx_before;
  LayerNormResult forward, given;
};

/// One operation and its arrays. Those that it writes are poisoned.
struct Pass {
  Pass(ops::Backend& backend, const LayerNormSpec& spec, const Values& values)
      : op(backend.create<ops::LayerNormOp>(spec)),
        x(backend, values.x, spec.type),
        gamma(backend, values.gamma),
        beta(backend, values.beta),
        dy(backend, values.dy, spec.type),
        mean_given(backend, values.given.mean),
        inv_std_given(backend, values.given.inv_std),
        y(backend, std::ssize(values.x), spec.type),
        mean(backend, spec.num_statistics()),
        inv_std(backend, spec.num_statistics()),
        dx(backend, std::ssize(values.x), spec.type),
        dgamma(backend, spec.width),
        dbeta(backend, spec.width),
        is_centred(spec.is_centred) {}

  void forward() { forward_to(y); }
  void forward_to(void* to) { op->forward({x, gamma, if_centred(beta), to, if_centred(mean), inv_std}); }
  void backward() { op->backward(arguments()); }
  ops::LayerNormBackward arguments() const {
    return {dy, x, gamma, if_centred(mean_given), inv_std_given, dx, /*addend=*/nullptr, dgamma, if_centred(dbeta)};
  }
  float* if_centred(const DeviceArray& array) const { return is_centred ? static_cast<float*>(array) : nullptr; }
  std::vector<std::vector<std::uint32_t>> result_bits() const {
    return {bits(y), bits(mean), bits(inv_std), bits(dx), bits(dgamma), bits(dbeta)};
  }

  std::unique_ptr<ops::LayerNormOp> op;
  DeviceArray x, gamma, beta, dy, mean_given, inv_std_given;
  DeviceArray y, mean, inv_std, dx, dgamma, dbeta;
  bool is_centred;
};

/// Compares forward with the reference. In whatever order n values of a row and group are added, each passes through at
/// most n roundings:
///   mean: n + 1 of them on the mean of |x|, which makes an error d; no error if it is taken as 0
///   variance: the mean of (x - mean - d)^2 = variance + d^2, whose terms have n + 4 roundings, and all are positive
///   inv_std: half of the relative error of variance + epsilon, and 3 of its own
///   y: those of mean and inv_std times their slopes, 4 on the product, 2 on the sum
/// One rounding is u = 2^-24.
void expect_forward(const LayerNormSpec& spec, const Values& values, const Pass& pass) {
  const double count = reference::values_of_statistic(spec);
  const std::size_t statistics = index(spec.num_statistics());
  Array mean_bound(statistics), relative(statistics), inv_std_bound(statistics), y_bound(values.x.size());
  for (std::size_t i = 0; i < values.x.size() && spec.is_centred; ++i)
    mean_bound[reference::statistic_of(spec, i)] += (count + 1) * kRounding * std::abs(values.x[i]) / count;
  for (std::size_t s = 0; s < statistics; ++s) {
    const double inv_std = values.forward.inv_std[s];
    relative[s] = 0.5 * ((count + 5) * kRounding + mean_bound[s] * mean_bound[s] * inv_std * inv_std) + 3 * kRounding;
    inv_std_bound[s] = relative[s] * inv_std;
  }
  for (std::size_t i = 0; i < values.x.size(); ++i) {
    const std::size_t s = reference::statistic_of(spec, i), c = reference::column_of(spec, i);
    const double slope = std::abs(values.gamma[c]) * values.forward.inv_std[s];
    y_bound[i] = 1.01 * slope * mean_bound[s] +
                 slope * std::abs(values.x[i] - values.forward.mean[s]) * 1.01 * (relative[s] + 5 * kRounding) +
                 2 * kRounding * std::abs(values.beta[c]);
  }
  if (spec.is_centred) expect_close("mean", pass.mean, values.forward.mean, mean_bound);
  expect_close("inv_std", pass.inv_std, values.forward.inv_std, inv_std_bound);
  expect_close("y", pass.y, values.forward.y, y_bound);
}

/// Compares backward with the reference. dgamma and dbeta have R P additions in any order, and 4 roundings on dy h. The
/// means of g and g h have n additions, and 2 and 5 roundings. dx has 3 on each of the three terms, 3 on their sum, and
/// one if it is added to earlier values.
void expect_backward(const LayerNormSpec& spec, const Values& values, const Pass& pass, const Array& dx_before) {
  const auto want = reference::layer_norm_gradient(spec, values.x, values.gamma, values.given, values.dy);
  Array dx = want.dx, dx_bound(dx.size());
  const double count = reference::values_of_statistic(spec);
  for (std::size_t i = 0; i < dx.size(); ++i) {
    const std::size_t r = reference::statistic_of(spec, i), c = reference::column_of(spec, i);
    const double inv_std = values.given.inv_std[r], h = std::abs((values.x[i] - values.given.mean[r]) * inv_std);
    const double terms =
        std::abs(values.gamma[c] * values.dy[i]) + std::abs(want.mean_g[r]) + h * std::abs(want.mean_gh[r]);
    dx[i] += dx_before[i];
    dx_bound[i] =
        kRounding *
        (inv_std * (6 * terms + (count + 2) * want.scale_of_mean_g[r] + h * (count + 5) * want.scale_of_mean_gh[r]) +
         std::abs(dx[i]) + std::abs(dx_before[i]));
  }
  expect_close("dx", pass.dx, dx, dx_bound);
  expect_close("dgamma", pass.dgamma, want.dgamma,
               rounding_bound(want.scale_of_dgamma, spec.num_rows * spec.num_pixels + 4));
  if (spec.is_centred)
    expect_close("dbeta", pass.dbeta, want.dbeta, rounding_bound(want.scale_of_dbeta, spec.num_rows * spec.num_pixels));
}

class LayerNormTest : public OpTest {};

TEST_P(LayerNormTest, EqualsItsDefinition) {
  for (const DataType type : types()) {
    for (const auto& [rows, width] : {std::pair{1, 1},
                                      {3, 5},
                                      {7, 64},
                                      {130, 64},
                                      {33, 37},
                                      {64, 256},
                                      {600, 8},
                                      {9, 768},
                                      {6, 1024},
                                      {5, 1030},
                                      {3, 4100},
                                      {1, 24}}) {
      SCOPED_TRACE(fmt::format("{} rows of {} values, {}", rows, width, to_string(type)));
      const LayerNormSpec spec{.num_rows = rows, .width = width, .type = type};
      const Values values(spec);
      Pass pass(*backend_, spec, values);
      pass.forward();
      expect_forward(spec, values, pass);
      pass.backward();
      expect_backward(spec, values, pass, Array(values.x.size()));
    }
  }
}

/// Widths on which teams of lanes and vectors end in several ways; groups of one column, of a few and of all.
std::vector<LayerNormSpec> other_norms(DataType type) {
  std::vector<LayerNormSpec> all;
  for (const auto& [rows, width] : {std::pair{1, 1}, {3, 5}, {130, 64}, {33, 37}, {9, 768}, {5, 1030}, {3, 4100}})
    all.push_back({.num_rows = rows, .width = width, .epsilon = 1e-3f, .type = type, .is_centred = false});
  for (const auto& [rows, pixels, width, groups] : std::vector<std::array<std::int64_t, 4>>{
           {2, 1, 6, 3}, {3, 9, 8, 8}, {2, 25, 37, 1}, {5, 49, 64, 32}, {1, 1300, 24, 2}, {2, 7, 600, 2}})
    all.push_back(
        {.num_rows = rows, .width = width, .epsilon = 1e-3f, .type = type, .num_pixels = pixels, .num_groups = groups});
  return all;
}

std::string name_of(const LayerNormSpec& spec) {
  return fmt::format("{} rows of {} pixels of {} values in {} groups, {}{}", spec.num_rows, spec.num_pixels, spec.width,
                     spec.num_groups, to_string(spec.type), spec.is_centred ? "" : ", not centred");
}

TEST_P(LayerNormTest, OfRootMeanSquaresAndOfGroupsEqualTheirDefinitions) {
  for (const DataType type : types()) {
    for (const LayerNormSpec& spec : other_norms(type)) {
      SCOPED_TRACE(name_of(spec));
      const Values values(spec, 0.25);
      Pass pass(*backend_, spec, values);
      pass.forward();
      expect_forward(spec, values, pass);
      pass.backward();
      expect_backward(spec, values, pass, Array(values.x.size()));
      if (!spec.is_centred) {
        for (const DeviceArray* unused : {&pass.mean, &pass.dbeta})
          for (const double value : unused->doubles()) EXPECT_TRUE(std::isnan(value)) << "written";
      }

      Pass in_place(*backend_, spec, values), adding(*backend_, spec, values);
      ops::LayerNormBackward args = in_place.arguments();
      args.dx = in_place.dy;
      args.dgamma = args.dbeta = nullptr;
      in_place.op->backward(args);
      EXPECT_EQ(bits(in_place.dy), bits(pass.dx));
      in_place.forward_to(in_place.x);
      EXPECT_EQ(bits(in_place.x), bits(pass.y));

      const DeviceArray before(*backend_, values.dx_before, type);
      args = adding.arguments();
      args.addend = before;
      adding.op->backward(args);
      expect_backward(spec, values, adding, values.dx_before);
    }
  }
}

// So the size of a micro-batch changes no bit of its samples.
TEST_P(LayerNormTest, BitsOfARowDoNotDependOnTheNumberOfRows) {
  for (LayerNormSpec spec : other_norms(DataType::kFloat32)) {
    if (spec.num_rows == 1) continue;
    SCOPED_TRACE(name_of(spec));
    const Values values(spec);
    Pass all(*backend_, spec, values);
    all.forward();
    all.backward();
    spec.num_rows = 1;
    Values of_first = values;
    for (Array* array : {&of_first.x, &of_first.dy, &of_first.dx_before}) array->resize(index(Values::count(spec)));
    for (LayerNormResult* result : {&of_first.forward, &of_first.given}) {
      result->mean.resize(index(spec.num_statistics()));
      result->inv_std.resize(index(spec.num_statistics()));
    }
    Pass first(*backend_, spec, of_first);
    first.forward();
    first.backward();
    const auto beginning = [](const DeviceArray& array, const DeviceArray& size) {
      auto all_bits = bits(array);
      all_bits.resize(bits(size).size());
      return all_bits;
    };
    EXPECT_EQ(bits(first.y), beginning(all.y, first.y));
    EXPECT_EQ(bits(first.dx), beginning(all.dx, first.dx));
    EXPECT_EQ(bits(first.inv_std), beginning(all.inv_std, first.inv_std));
  }
}

TEST_P(LayerNormTest, AMeanFarFromZeroCostsTheVarianceNoDigits) {
  for (const auto& [rows, width] : {std::pair{40, 64}, {7, 256}, {9, 37}, {3, 1030}}) {
    const LayerNormSpec spec{.num_rows = rows, .width = width};
    const Values values(spec, 100, 0.1);
    Pass pass(*backend_, spec, values);
    pass.forward();
    expect_forward(spec, values, pass);
  }
  const LayerNormSpec groups{.num_rows = 2, .width = 24, .num_pixels = 50, .num_groups = 6};
  const Values values(groups, 100, 0.1);
  Pass pass(*backend_, groups, values);
  pass.forward();
  expect_forward(groups, values, pass);
}

TEST_P(LayerNormTest, ARowOfEqualValuesBecomesBeta) {
  for (const DataType type : types()) {
    const LayerNormSpec spec{.num_rows = 3, .width = 64, .type = type};
    Values values(spec);
    std::fill_n(values.x.begin() + 64, 64, 3.0);  // the sum of 64 is exact
    Pass pass(*backend_, spec, values);
    pass.forward();
    const Array y = pass.y.doubles();
    EXPECT_EQ(Array(y.begin() + 64, y.begin() + 128), rounded(type, values.beta));
    EXPECT_EQ(pass.mean.doubles()[1], 3.0);
    EXPECT_NEAR(pass.inv_std.doubles()[1], 1 / std::sqrt(double{spec.epsilon}), 3 * kRounding * 317);
  }
}

TEST_P(LayerNormTest, ResultsMayReplaceWhatTheyAreMadeOf) {
  for (const DataType type : types()) {
    for (const auto& [rows, width] : {std::pair{37, 64}, {5, 37}, {3, 1030}}) {
      const LayerNormSpec spec{.num_rows = rows, .width = width, .type = type};
      const Values values(spec);
      Pass plain(*backend_, spec, values), in_place(*backend_, spec, values);
      plain.forward();
      plain.backward();
      ops::LayerNormBackward to_dy = in_place.arguments();
      to_dy.dx = in_place.dy;
      in_place.op->backward(to_dy);
      EXPECT_EQ(bits(in_place.dy), bits(plain.dx));
      EXPECT_EQ(bits(in_place.dgamma), bits(plain.dgamma));
      in_place.forward_to(in_place.x);
      EXPECT_EQ(bits(in_place.x), bits(plain.y));
    }
  }
}

TEST_P(LayerNormTest, AddsToTheGradientsOfOtherReaders) {
  for (const DataType type : types()) {
    for (const auto& [rows, width] : {std::pair{37, 64}, {5, 37}, {3, 1030}, {9, 256}}) {
      const LayerNormSpec spec{.num_rows = rows, .width = width, .type = type};
      const Values values(spec);
      Pass pass(*backend_, spec, values);
      const DeviceArray before(*backend_, values.dx_before, type);
      ops::LayerNormBackward adding = pass.arguments();
      adding.addend = before;
      pass.op->backward(adding);
      expect_backward(spec, values, pass, values.dx_before);
      const std::vector<std::uint32_t> sums = bits(pass.dx);
      backend_->elementwise().copy(before.data(), pass.dx.data(), std::ssize(values.x) * size_of(type));
      adding.addend = pass.dx;
      pass.op->backward(adding);
      EXPECT_EQ(bits(pass.dx), sums);
    }
  }
}

TEST_P(LayerNormTest, GradientsOfParametersThatNobodyWantsChangeNoBit) {
  for (const bool adds : {false, true}) {
    const LayerNormSpec spec{.num_rows = 37, .width = 64};
    const Values values(spec);
    Pass with(*backend_, spec, values), without(*backend_, spec, values);
    for (Pass* pass : {&with, &without}) {
      const DeviceArray before(*backend_, values.dx_before);
      backend_->elementwise().copy(before.data(), pass->dx.data(), std::ssize(values.x) * kFloatBytes);
      ops::LayerNormBackward args = pass->arguments();
      if (adds) args.addend = pass->dx;
      if (pass == &without) args.dgamma = args.dbeta = nullptr;
      pass->op->backward(args);
    }
    EXPECT_EQ(bits(with.dx), bits(without.dx));
  }
}

TEST_P(LayerNormTest, NaNInOneRowStaysInIt) {
  const LayerNormSpec spec{.num_rows = 7, .width = 40};
  Values values(spec);
  values.x[3 * 40 + 5] = std::numeric_limits<double>::quiet_NaN();
  Pass pass(*backend_, spec, values);
  pass.forward();
  const std::vector<float> y = pass.y.values();
  for (std::size_t i = 0; i < y.size(); ++i) EXPECT_EQ(std::isnan(y[i]), i / 40 == 3) << i;
}

TEST_P(LayerNormTest, GivesTheSameBitsInEveryRun) {
  for (const DataType type : types()) {
    for (const auto& [rows, width] : {std::pair{600, 64}, {131, 37}}) {
      const LayerNormSpec spec{.num_rows = rows, .width = width, .type = type};
      const Values values(spec);
      std::vector<std::vector<std::uint32_t>> first;
      for (int repeat = 0; repeat < 2; ++repeat) {
        const auto backend = another_backend();
        Pass pass(*backend, spec, values);
        const LayerNormSpec larger{.num_rows = 300, .width = 512};  // moves the scratch memory
        Pass other(*backend, larger, Values(larger));
        for (int run = 0; run < 2; ++run) {
          pass.forward();
          other.backward();
          pass.backward();
          if (first.empty()) first = pass.result_bits();
          EXPECT_EQ(first, pass.result_bits());
        }
      }
    }
  }
}

TEST(LayerNormOnTheCpu, GivesTheSameBitsForEveryNumberOfThreads) {
  for (const DataType type : {DataType::kFloat32, DataType::kBfloat16}) {
    for (const LayerNormSpec& spec :
         {LayerNormSpec{.num_rows = 1000, .width = 64, .type = type},
          LayerNormSpec{.num_rows = 131, .width = 37, .type = type},
          LayerNormSpec{.num_rows = 5, .width = 256, .type = type},
          LayerNormSpec{.num_rows = 131, .width = 37, .type = type, .is_centred = false},
          LayerNormSpec{.num_rows = 5, .width = 24, .type = type, .num_pixels = 1500, .num_groups = 6},
          LayerNormSpec{.num_rows = 200, .width = 600, .type = type, .num_pixels = 2, .num_groups = 6}}) {
      const Values values(spec);
      std::vector<std::vector<std::uint32_t>> first;
      for (const std::int64_t threads : {1, 2, 3, 7}) {
        const auto backend = ops::make_backend({.device = DeviceKind::kCpu, .threads = threads});
        Pass pass(*backend, spec, values);
        pass.forward();
        pass.backward();
        if (first.empty()) first = pass.result_bits();
        EXPECT_EQ(first, pass.result_bits()) << threads << " threads";
      }
    }
  }
}

CONVOY_RUN_ON_ALL_BACKENDS(LayerNormTest);

}  // namespace
}  // namespace convoy
