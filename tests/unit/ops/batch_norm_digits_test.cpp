/// Cases in which a batch norm could lose digits or its gradient's mask: large means, no variance, outliers, NaN,
/// values that round to 0.
#include <cmath>
#include <limits>

#include <fmt/core.h>

#include "unit/ops/batch_norm_pass.h"

namespace convoy {
namespace {

class BatchNormDigits : public OpTest {};

TEST_P(BatchNormDigits, MeanOf100WithDeviationOfATenthIsExactEnough) {
  for (const DataType type : types()) {
    for (const Shape& shape :
         {Shape::images(8, 32, 32, 16), Shape::images(4, 9, 9, 37), Shape::images(2, 14, 14, 256)}) {
      SCOPED_TRACE(fmt::format("{}, {}", to_string(shape), to_string(type)));
      const BatchNormValues values(shape, type, 100, 0.1 * std::sqrt(3.0));
      const BatchNormSpec spec{shape, true, false};
      const BatchNormPass run(*backend_, spec, values);
      expect_forward(spec, values, run.y, run.mean, run.inv_std, run.var_unbiased);
    }
  }
}

TEST_P(BatchNormDigits, AConstantChannelHasExactlyNoVariance) {
  const Shape shape = Shape::images(4, 16, 16, 16);
  for (const DataType type : types()) {
    BatchNormValues values(shape, type);
    const double constant = rounded(type, static_cast<double>(12345.678f));
    for (std::size_t i = 3; i < values.x.size(); i += 16) values.x[i] = constant;
    const BatchNormPass pass(*backend_, {shape}, values);
    EXPECT_EQ(pass.mean.doubles()[3], constant);
    EXPECT_EQ(pass.var_unbiased.values()[3], 0.0f);
  }
}

// The first row of a block is its shift: an outlier there must not cost the other values their digits.
TEST_P(BatchNormDigits, AnOutlierInTheFirstRowCostsNoDigits) {
  const Shape shape = Shape::images(4, 16, 16, 16);
  for (const DataType type : types()) {
    BatchNormValues values(shape, type);
    // The first row of a block on the CPU and on a GPU, whose blocks have at most 512 rows here.
    for (const std::size_t row : {0, 512}) values.x[16 * row + 5] = rounded(type, 1e4);
    const auto want = reference::batch_norm({shape}, values.x, {}, values.gamma, values.beta);
    const BatchNormPass pass(*backend_, {shape}, values);
    // A block of r rows sums r - 1 squares of 1e8, of which all but one cancel against the square of the sum; both
    // carry the roundings of a addition and a square, the sum's twice. r = 32 and a = kAdditions on the CPU, 512 and 4
    // on a GPU, whose 5 * 511 is the larger. Two such blocks; the variance is a sum over 1024 values.
    const double tolerance = 2 * 3 * 5 * kRounding * 511 * 1e8 / 1023;
    EXPECT_NEAR(pass.var_unbiased.values()[5], want.var_unbiased[5], tolerance);
  }
}

TEST_P(BatchNormDigits, NaNInOneChannelStaysInIt) {
  const Shape shape = Shape::images(2, 9, 9, 37);
  for (const DataType type : types()) {
    BatchNormValues values(shape, type);
    values.x[37 * 50 + 5] = std::numeric_limits<double>::quiet_NaN();
    const BatchNormPass run(*backend_, {shape, true, false}, values);
    const std::vector<float> y = run.y.values();
    for (std::size_t i = 0; i < y.size(); ++i) EXPECT_EQ(std::isnan(y[i]), i % 37 == 5) << i;
  }
}

// BatchNormValues a few ULPs around a mean of 100, for which one rounding more or less decides the sign of the ReLU's
// argument. With dy = 1, dbeta is exactly the number of positive arguments.
TEST_P(BatchNormDigits, BackwardMasksExactlyWhereForwardGaveZero) {
  for (const Shape& shape : {Shape::images(5, 11, 13, 37), Shape::images(5, 11, 13, 24)}) {
    BatchNormValues values(shape, DataType::kFloat32, 100, 50 * 0x1p-17);
    for (double& value : values.beta) value *= 1e-3;
    for (double& value : values.dy) value = 1;
    BatchNormPass pass(*backend_, {shape, true, false}, values);
    pass.backward();
    std::vector<float> positive(index(shape.c));
    const std::vector<float> y = pass.y.values();
    for (std::size_t i = 0; i < y.size(); ++i) positive[i % positive.size()] += y[i] > 0 ? 1.0f : 0.0f;
    EXPECT_EQ(pass.dbeta.values(), positive);
  }
}

// Arguments of the ReLU around the smallest positive value of the type, half of which is rounded to 0: if forward
// stored a 0, there is no gradient.
TEST_P(BatchNormDigits, BackwardMasksWhatForwardRoundedToZero) {
  const Shape shape = Shape::images(4, 8, 8, 16);
  for (const DataType type : types()) {
    if (type == DataType::kFloat32) continue;
    SCOPED_TRACE(to_string(type));
    const double smallest = reference::decoded(type, 1);
    BatchNormValues values(shape, type);
    for (std::size_t c = 0; c < 16; ++c) {
      values.gamma[c] = 0;
      values.beta[c] = static_cast<double>(c) / 8 * smallest;  // 4 of 8 are a tie, which goes to 0
    }
    for (double& value : values.dy) value = 1;
    BatchNormPass pass(*backend_, {shape, true, false}, values);
    pass.backward();
    std::vector<float> positive(16);
    const std::vector<float> y = pass.y.values();
    for (std::size_t i = 0; i < y.size(); ++i) positive[i % 16] += y[i] > 0 ? 1.0f : 0.0f;
    EXPECT_EQ(pass.dbeta.values(), positive);
    EXPECT_EQ(positive[4], 0.0f);
    EXPECT_EQ(positive[5], 256.0f);
  }
}

CONVOY_RUN_ON_ALL_BACKENDS(BatchNormDigits);

}  // namespace
}  // namespace convoy
