/// The division of oneDNN's work into parts: enough for the threads if that costs little.
#include <vector>

#include <gtest/gtest.h>

#include "ops/cpu/convolution/weight_gradient.h"
#include "ops/cpu/onednn/matmul_parts.h"
#include "unit/ops/convolution_cases.h"

namespace convoy::ops::cpu {

TEST(WeightGradientDivision, DividesSamplesWhereThereAreFewWeightsAndFiltersWhereActivationsAreSmall) {
  EXPECT_EQ(divide_weight_gradient({Shape::images(8, 56, 56, 64), 64, 3, 1, 1}), (WeightGradientDivision{8, 1}));
  EXPECT_EQ(divide_weight_gradient({Shape::images(16, 224, 224, 3), 64, 7, 2, 3}), (WeightGradientDivision{8, 1}));
  EXPECT_EQ(divide_weight_gradient({Shape::images(16, 7, 7, 512), 512, 3, 1, 1}), (WeightGradientDivision{1, 8}));
  EXPECT_EQ(divide_weight_gradient({Shape::images(1, 7, 7, 256), 256, 3, 1, 1}), (WeightGradientDivision{1, 8}));
  EXPECT_EQ(divide_weight_gradient({Shape::images(2, 28, 28, 128), 128, 3, 1, 1}), (WeightGradientDivision{2, 2}))
      << "both";
  EXPECT_EQ(divide_weight_gradient({Shape::images(1, 1, 1, 1), 1, 1, 1, 0}), (WeightGradientDivision{1, 1}));
}

TEST(WeightGradientDivision, HasFewerPartsWhereTheyMoveTooMuch) {
  const ConvolutionSpec wide{Shape::images(16, 14, 14, 1024), 256, 1, 1, 0};
  EXPECT_EQ(divide_weight_gradient(wide), (WeightGradientDivision{8, 1}));
  ConvolutionSpec in_bf16 = wide;
  in_bf16.type = DataType::kBfloat16;
  EXPECT_EQ(divide_weight_gradient(in_bf16), (WeightGradientDivision{4, 1}))
      << "the same additions beside less arithmetic";
}

TEST(WeightGradientDivision, DividesGroupsWithTheirFilters) {
  const ConvolutionSpec depthwise{
      .x = Shape::images(1, 56, 56, 96), .num_filters = 96, .kernel = 7, .padding = 3, .groups = 96};
  const WeightGradientDivision division = divide_weight_gradient(depthwise);
  EXPECT_EQ(division, (WeightGradientDivision{1, 6})) << "16 channels each";
  const ConvolutionSpec part = part_of_weight_gradient(depthwise, division);
  EXPECT_EQ(part.x, (Shape::images(1, 56, 56, 16)));
  EXPECT_EQ(part.num_filters, 16);
  EXPECT_EQ(part.groups, 16);
}

TEST(WeightGradientDivision, HasPartsThatAreTheWholeTogether) {
  std::vector<ConvolutionSpec> specs = kSpecsWithSplitSums;
  for (const ConvolutionCase& test : kConvolutionCases) specs.push_back(test.spec);
  for (const ConvolutionSpec& spec : specs) {
    SCOPED_TRACE(to_string(spec.x));
    const WeightGradientDivision division = divide_weight_gradient(spec);
    const ConvolutionSpec part = part_of_weight_gradient(spec, division);
    EXPECT_EQ(part.x.n * division.samples, spec.x.n);
    EXPECT_EQ(part.weight_count() * division.filters, spec.weight_count());
  }
}

TEST(MatmulDivision, DividesTheDimensionThatCostsLeast) {
  const auto division_of = [](const MatmulSpec& product) {
    const MatmulDivision division = divide_matmul(product);
    return std::vector<std::int64_t>{division.m, division.n, division.k};
  };
  const LinearSpec layer{.n = 8192, .num_inputs = 256, .num_outputs = 1024};
  EXPECT_EQ(division_of(forward_product(layer)), (std::vector<std::int64_t>{8, 1, 1})) << "rows";
  EXPECT_EQ(division_of(backward_input_product(layer)), (std::vector<std::int64_t>{8, 1, 1})) << "rows";
  EXPECT_EQ(division_of(backward_weight_product(layer)), (std::vector<std::int64_t>{1, 1, 8})) << "sums over rows";
  MatmulSpec in_bf16 = backward_weight_product(layer);
  in_bf16.input_type = DataType::kBfloat16;
  EXPECT_EQ(division_of(in_bf16), (std::vector<std::int64_t>{1, 1, 4})) << "eight sums would take too long";
  const LinearSpec classifier{.n = 16, .num_inputs = 2048, .num_outputs = 1000};
  EXPECT_EQ(division_of(forward_product(classifier)), (std::vector<std::int64_t>{1, 4, 1})) << "outputs";
  EXPECT_EQ(division_of(forward_product({.n = 8, .num_inputs = 64, .num_outputs = 10})),
            (std::vector<std::int64_t>{1, 1, 1}))
      << "too little to divide";
}

}  // namespace convoy::ops::cpu
