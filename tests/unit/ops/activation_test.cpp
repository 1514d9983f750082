/// ActivationOp against the definitions, in units of the last place.
#include "reference/activation.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "unit/ops/op_test.h"

namespace convoy {
namespace {

using ops::Activation;
using ops::ActivationSpec;

const std::vector<ActivationSpec> kAll = {{.activation = Activation::kRelu},
                                          {.activation = Activation::kGelu},
                                          {.activation = Activation::kGeluTanh},
                                          {.activation = Activation::kTanh},
                                          {.activation = Activation::kSigmoid},
                                          {.activation = Activation::kSilu},
                                          {.activation = Activation::kHardSigmoid},
                                          {.activation = Activation::kHardSwish},
                                          {.activation = Activation::kLeakyRelu, .factor = 0.01f},
                                          {.activation = Activation::kLeakyRelu, .factor = 0},
                                          {.activation = Activation::kAffine, .factor = -0.3f, .constant = 1.7f},
                                          {.activation = Activation::kAffine, .factor = 1, .constant = 0}};

/// Absolute errors that the contract allows for x of at most `end`, where a function or its derivative tends to 0.
struct Vanishing {
  double end = -HUGE_VAL, error = 0;
};

class ActivationTest : public OpTest {
 protected:
  /// The contract's error in units of the last place.
  static double units(Activation activation) {
    constexpr Activation kExact[] = {Activation::kRelu, Activation::kHardSigmoid, Activation::kHardSwish,
                                     Activation::kLeakyRelu, Activation::kAffine};
    return std::ranges::count(kExact, activation) > 0 ? 4 : 6;
  }
  static Vanishing vanishing(Activation activation) {
    switch (activation) {
      case Activation::kGelu:
      case Activation::kGeluTanh:
        return {-4, 0x1p-28};
      case Activation::kSigmoid:
        return {-87, 0x1p-125};
      case Activation::kSilu:
        return {-87, 0x1p-118};
      default:
        return {};
    }
  }
  /// The derivatives of tanh and sigmoid vanish at both ends.
  static Vanishing vanishing_gradient(Activation activation) {
    return activation == Activation::kTanh ? Vanishing{-4, 0x1p-28} : vanishing(activation);
  }
  /// The error that the contract allows at x, for terms of this size.
  static double allowed(Activation activation, const Vanishing& end, double x, double size) {
    if (x <= end.end) return end.error;
    return units(activation) * reference::format_of(DataType::kFloat32).unit(size);
  }
  static double allowed_of_gradient(Activation activation, double x, double size) {
    const bool is_even = activation == Activation::kTanh || activation == Activation::kSigmoid;
    return allowed(activation, vanishing_gradient(activation), is_even ? -std::abs(x) : x, size);
  }

  void expect_definitions(const ActivationSpec& of_all, DataType type, const Array& x) {
    ActivationSpec spec = of_all;
    spec.count = std::ssize(x);
    spec.type = type;
    const Array dy = rounded(type, random_array(spec.count, 2));
    const DeviceArray device_x(*backend_, x, type), device_dy(*backend_, dy, type);
    const DeviceArray y(*backend_, spec.count, type), dx(*backend_, spec.count, type);
    const auto op = backend_->create<ops::ActivationOp>(spec);
    op->forward(device_x, y);
    op->backward(device_x, device_dy, dx);

    Array tolerance(x.size()), gradient_tolerance(x.size());
    const bool is_affine = spec.activation == Activation::kAffine;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto of = reference::activation_terms(spec, x[i]);
      const double terms_of_value = is_affine ? std::abs(double{spec.factor} * x[i]) + std::abs(double{spec.constant})
                                              : static_cast<double>(of.value);
      tolerance[i] = allowed(spec.activation, vanishing(spec.activation), x[i], terms_of_value);
      const double size = static_cast<double>(std::abs(of.first) + std::abs(of.second));
      gradient_tolerance[i] =
          (allowed_of_gradient(spec.activation, x[i], size) + kRounding * size) * std::abs(dy[i]) +  // product with dy
          0x1p-150;                                                                                  // subnormal
    }
    expect_close("y", y, reference::activation(spec, x), tolerance);
    expect_close("dx", dx, reference::activation_gradient(spec, x, dy), gradient_tolerance);

    op->forward(device_x, device_x);
    op->backward(DeviceArray(*backend_, x, type), device_dy, device_dy);
    EXPECT_EQ(bits(device_x), bits(y)) << "over its input";
    EXPECT_EQ(bits(device_dy), bits(dx)) << "over its input";
  }
};

TEST_P(ActivationTest, IsItsDefinitionToTheDigitsOfTheContract) {
  Array x = random_array(20000, 1, 0, 14);
  for (const double value : random_array(5000, 3, 0, 4)) x.push_back(value);
  for (double size = 0x1p-126; size < 0x1p127; size *= 1.5) {
    x.push_back(static_cast<double>(static_cast<float>(size)));
    x.push_back(-x.back());
  }
  x.push_back(0);
  for (const DataType type : types()) {
    for (const ActivationSpec& spec : kAll) {
      SCOPED_TRACE(
          fmt::format("activation {}, {}, {}", static_cast<int>(spec.activation), spec.factor, to_string(type)));
      Array stored = rounded(type, x);
      std::erase_if(stored, [](double value) { return !std::isfinite(value); });  // fp16 has less
      expect_definitions(spec, type, stored);
    }
  }
}

TEST_P(ActivationTest, TakesAnyNumberOfValues) {
  for (const std::int64_t count : {1, 2, 3, 7, 8, 15, 16, 17, 31, 100, 40001}) {
    for (const DataType type : types()) {
      SCOPED_TRACE(fmt::format("{} values, {}", count, to_string(type)));
      for (const ActivationSpec& spec : kAll)
        expect_definitions(spec, type, rounded(type, random_array(count, 1, 0, 3)));
    }
  }
}

// The positions are in a vector loop and in its remainder, in whole tensors and in parts of them.
TEST_P(ActivationTest, AValuesBitsDoNotDependOnItsPosition) {
  constexpr std::int64_t kCount = 1000;
  const Array x = random_array(kCount, 1, 0, 5), dy = random_array(kCount, 2);
  for (ActivationSpec spec : kAll) {
    const auto run = [&](std::int64_t begin, std::int64_t count) {
      const auto part = [&](const Array& of) { return Array(of.begin() + begin, of.begin() + begin + count); };
      const DeviceArray some_x(*backend_, part(x)), some_dy(*backend_, part(dy)), y(*backend_, count);
      const auto op = backend_->create<ops::ActivationOp>((spec.count = count, spec));
      op->forward(some_x, y);
      op->backward(some_x, some_dy, some_dy);
      return std::pair(bits(y), bits(some_dy));
    };
    const auto all = run(0, kCount);
    for (const auto& slice : {std::pair{1, 999}, {0, 5}, {37, 100}, {991, 9}}) {
      const int begin = slice.first, count = slice.second;
      const auto some = run(begin, count);
      const auto part = [&](const std::vector<std::uint32_t>& of) {
        return std::vector<std::uint32_t>(of.begin() + begin, of.begin() + begin + count);
      };
      EXPECT_EQ(some.first, part(all.first));
      EXPECT_EQ(some.second, part(all.second));
    }
  }
}

/// The values of f, or its slopes, at infinity, a huge value, its negative, and minus infinity.
struct Limits {
  Array values, slopes;
};
Limits limits_of(const ActivationSpec& spec) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity(), kHuge = double{3e38f};
  const double factor = spec.factor, constant = spec.constant;
  switch (spec.activation) {
    case Activation::kTanh:
      return {{1, 1, -1, -1}, {0, 0, 0, 0}};
    case Activation::kSigmoid:
    case Activation::kHardSigmoid:
      return {{1, 1, 0, 0}, {0, 0, 0, 0}};
    case Activation::kLeakyRelu:
      return {{kInfinity, kHuge, factor * -kHuge, factor * -kInfinity}, {1, 1, factor, factor}};
    case Activation::kAffine:
      return {{factor * kInfinity, factor * kHuge + constant, factor * -kHuge + constant, factor * -kInfinity},
              Array(4, factor)};
    default:
      return {{kInfinity, kHuge, 0, 0}, {1, 1, 0, 0}};
  }
}

// The slopes of functions made of lines are known without x, or by comparisons with x: PyTorch's pass dy, or 0, too.
TEST_P(ActivationTest, NaNStaysAndHugeValuesAreTheirLimits) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity(), kHuge = 3e38;
  constexpr Activation kLines[] = {Activation::kRelu, Activation::kHardSigmoid, Activation::kLeakyRelu,
                                   Activation::kAffine};
  for (ActivationSpec spec : kAll) {
    SCOPED_TRACE(fmt::format("activation {}, {}", static_cast<int>(spec.activation), spec.factor));
    spec.count = 5;
    const DeviceArray x(*backend_, {std::nan(""), kInfinity, kHuge, -kHuge, -kInfinity}), y(*backend_, 5);
    const DeviceArray ones(*backend_, Array(5, 1.0)), dx(*backend_, 5);
    const auto op = backend_->create<ops::ActivationOp>(spec);
    op->forward(x, y);
    op->backward(x, ones, dx);
    const Array values = y.doubles(), slopes = dx.doubles();
    EXPECT_TRUE(std::isnan(values[0]));
    EXPECT_EQ(std::isnan(slopes[0]), std::ranges::count(kLines, spec.activation) == 0);
    const Limits limits = limits_of(spec);
    for (std::size_t i = 0; i < 4; ++i) {
      if (std::isnan(limits.values[i])) continue;  // 0 times infinity
      EXPECT_EQ(values[i + 1], reference::rounded(DataType::kFloat32, limits.values[i])) << i;
    }
    EXPECT_EQ(Array(slopes.begin() + 1, slopes.end()), limits.slopes);
  }
}

// So a layer with one of them need not store x.
TEST_P(ActivationTest, TheGradientOfReluAndLeakyReluIsThatOfTheirResult) {
  for (const Activation activation : {Activation::kRelu, Activation::kLeakyRelu}) {
    const ActivationSpec spec{.count = 100, .activation = activation, .factor = 0.1f};
    const DeviceArray x(*backend_, random_array(100, 1)), dy(*backend_, random_array(100, 2));
    const DeviceArray y(*backend_, 100), of_x(*backend_, 100), of_y(*backend_, 100);
    const auto op = backend_->create<ops::ActivationOp>(spec);
    op->forward(x, y);
    op->backward(x, dy, of_x);
    op->backward(y, dy, of_y);
    EXPECT_EQ(bits(of_x), bits(of_y));
  }
}

TEST_P(ActivationTest, TheGradientOfAnAffineFunctionReadsNoInput) {
  const ActivationSpec spec{.count = 100, .activation = Activation::kAffine, .factor = -2, .constant = 5};
  const DeviceArray dy(*backend_, random_array(100, 2)), dx(*backend_, 100);
  backend_->create<ops::ActivationOp>(spec)->backward(nullptr, dy, dx);
  Array want = dy.doubles();
  for (double& value : want) value *= -2;
  EXPECT_EQ(dx.doubles(), want);
}

CONVOY_RUN_ON_ALL_BACKENDS(ActivationTest);

}  // namespace
}  // namespace convoy
