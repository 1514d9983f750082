/// ActivationOp against the definitions, in units of the last place.
#include "reference/activation.h"

#include <cmath>
#include <limits>

#include "unit/ops/op_test.h"

namespace convoy {
namespace {

using ops::Activation;
using ops::ActivationSpec;

constexpr Activation kAll[] = {Activation::kRelu, Activation::kGelu, Activation::kGeluTanh, Activation::kTanh};

class ActivationTest : public OpTest {
 protected:
  static constexpr double kUnits = 6, kBelowFour = 0x1p-28;  // the contract's

  /// The error that the contract allows at x, for terms of this size.
  static double allowed(Activation activation, double x, double size) {
    const bool has_digits = x > -4 || activation == Activation::kTanh;
    return has_digits ? kUnits * reference::format_of(DataType::kFloat32).unit(size) : kBelowFour;
  }
  static double allowed_of_gradient(Activation activation, double x, double size) {
    const bool has_vanished = activation == Activation::kTanh && std::abs(x) >= 4;
    return has_vanished ? kBelowFour : allowed(activation, x, size);
  }

  void expect_definitions(Activation activation, DataType type, const Array& x) {
    const std::int64_t count = std::ssize(x);
    const Array dy = rounded(type, random_array(count, 2));
    const DeviceArray device_x(*backend_, x, type), device_dy(*backend_, dy, type);
    const DeviceArray y(*backend_, count, type), dx(*backend_, count, type);
    const auto op = backend_->create<ops::ActivationOp>({.count = count, .activation = activation, .type = type});
    op->forward(device_x, y);
    op->backward(device_x, device_dy, dx);

    Array tolerance(x.size()), gradient_tolerance(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto of = reference::activation_terms(activation, x[i]);
      tolerance[i] = allowed(activation, x[i], static_cast<double>(of.value));
      const double size = static_cast<double>(std::abs(of.first) + std::abs(of.second));
      gradient_tolerance[i] =
          (allowed_of_gradient(activation, x[i], size) + kRounding * size) * std::abs(dy[i]);  // the product with dy
    }
    expect_close("y", y, reference::activation(activation, x), tolerance);
    expect_close("dx", dx, reference::activation_gradient(activation, x, dy), gradient_tolerance);

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
    for (const Activation activation : kAll) {
      SCOPED_TRACE(fmt::format("activation {}, {}", static_cast<int>(activation), to_string(type)));
      Array stored = rounded(type, x);
      std::erase_if(stored, [](double value) { return !std::isfinite(value); });  // fp16 has less
      expect_definitions(activation, type, stored);
    }
  }
}

TEST_P(ActivationTest, TakesAnyNumberOfValues) {
  for (const std::int64_t count : {1, 2, 3, 7, 8, 15, 16, 17, 31, 100, 40001}) {
    for (const DataType type : types()) {
      SCOPED_TRACE(fmt::format("{} values, {}", count, to_string(type)));
      for (const Activation activation : kAll) {
        expect_definitions(activation, type, rounded(type, random_array(count, 1, 0, 3)));
      }
    }
  }
}

// The positions are in a vector loop and in its remainder, in whole tensors and in parts of them.
TEST_P(ActivationTest, AValuesBitsDoNotDependOnItsPosition) {
  constexpr std::int64_t kCount = 1000;
  const Array x = random_array(kCount, 1, 0, 5), dy = random_array(kCount, 2);
  for (const Activation activation : kAll) {
    const auto run = [&](std::int64_t begin, std::int64_t count) {
      const auto part = [&](const Array& of) { return Array(of.begin() + begin, of.begin() + begin + count); };
      const DeviceArray some_x(*backend_, part(x)), some_dy(*backend_, part(dy)), y(*backend_, count);
      const auto op = backend_->create<ops::ActivationOp>({.count = count, .activation = activation});
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

TEST_P(ActivationTest, NaNStaysAndHugeValuesAreTheirLimits) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity(), kHuge = 3e38;
  for (const Activation activation : kAll) {
    const DeviceArray x(*backend_, {std::nan(""), kInfinity, kHuge, -kHuge, -kInfinity}), y(*backend_, 5);
    const DeviceArray ones(*backend_, Array(5, 1.0)), dx(*backend_, 5);
    const auto op = backend_->create<ops::ActivationOp>({.count = 5, .activation = activation});
    op->forward(x, y);
    op->backward(x, ones, dx);
    const Array values = y.doubles(), slopes = dx.doubles();
    EXPECT_TRUE(std::isnan(values[0]));
    EXPECT_EQ(std::isnan(slopes[0]), activation != Activation::kRelu);  // whose gradient dy passes, as PyTorch's
    const bool is_bounded = activation == Activation::kTanh;
    EXPECT_EQ(Array(values.begin() + 1, values.end()),
              is_bounded ? (Array{1, 1, -1, -1}) : (Array{kInfinity, double{3e38f}, 0, 0}));
    EXPECT_EQ(Array(slopes.begin() + 1, slopes.end()), is_bounded ? (Array{0, 0, 0, 0}) : (Array{1, 1, 0, 0}));
  }
}

// So a layer with ReLU need not store y.
TEST_P(ActivationTest, TheGradientOfReluIsThatOfItsResult) {
  const ActivationSpec spec{.count = 100};
  const DeviceArray x(*backend_, random_array(100, 1)), dy(*backend_, random_array(100, 2));
  const DeviceArray y(*backend_, 100), of_x(*backend_, 100), of_y(*backend_, 100);
  const auto op = backend_->create<ops::ActivationOp>(spec);
  op->forward(x, y);
  op->backward(x, dy, of_x);
  op->backward(y, dy, of_y);
  EXPECT_EQ(bits(of_x), bits(of_y));
}

CONVOY_RUN_ON_ALL_BACKENDS(ActivationTest);

}  // namespace
}  // namespace convoy
