/// How much each output counts in the loss. Classes: in proportion to what was asked for, 1 on average over the data.
/// Labels and numbers: the factors as they were given.
#include <vector>

#include <gtest/gtest.h>

#include "convoy/base/error.h"
#include "convoy/params/parameters.h"

#include "run/training_setup.h"
#include "unit/messages.h"

namespace convoy {
namespace {

// Classes of 6, 3, 0 and 1 samples.
io::DatasetInfo some_data() {
  io::DatasetInfo data;
  data.num_samples = 10;
  data.class_names = {"a", "b", "c", "d"};
  data.class_counts = {6, 3, 0, 1};
  return data;
}

// 10 samples: 4 have the first label, none the second, all the third.
io::DatasetInfo some_labels() {
  io::DatasetInfo data;
  data.num_samples = 10;
  data.class_names = {"a", "b", "c"};
  data.class_counts = {4, 0, 10};
  data.target = {.kind = TargetKind::kLabels, .shape = Shape::vectors(1, 3)};
  return data;
}

io::DatasetInfo some_numbers() {
  io::DatasetInfo data;
  data.num_samples = 10;
  data.class_names = {"energy", "force"};
  data.target = {.kind = TargetKind::kNumbers, .shape = Shape::vectors(1, 2), .mean = {0, 0}, .stddev = {1, 1}};
  return data;
}

std::vector<float> weights(const ClassWeights& asked, const io::DatasetInfo& data = some_data()) {
  Parameters params;
  params.train.class_weights = asked;
  return output_weights(params, data);
}

std::string refusal(const ClassWeights& asked, const io::DatasetInfo& data = some_data()) {
  return test::message_of<RequestError>([&] { weights(asked, data); });
}

TEST(ClassWeights, AreAbsentUnlessAskedFor) {
  EXPECT_TRUE(weights({}).empty());
}

TEST(ClassWeights, BalancedGivesEachClassThatIsThereTheSameSum) {
  // 10 samples, 3 classes with any: each sums to 10 / 3.
  EXPECT_EQ(weights({.balanced = true}), (std::vector<float>{10.0F / 18, 10.0F / 9, 0, 10.0F / 3}));
}

TEST(ClassWeights, NumbersKeepTheirProportionAndAverageOneOverTheSamples) {
  // 6 * 1 + 3 * 2 + 1 * 8 = 20 for 10 samples.
  EXPECT_EQ(weights({.factors = {1, 2, 100, 8}}), (std::vector<float>{0.5F, 1, 50, 4}));
}

TEST(ClassWeights, RefusesFactorsThatAreNotTheClasses) {
  EXPECT_CONTAINS(refusal({.factors = {1, 2}}), "train.class_weights has 2 factors, but data.train has 4 classes");
  EXPECT_CONTAINS(refusal({.factors = {0, 0, 1, 0}}), "0 for every class that data.train has samples of");
}

TEST(LabelWeights, BalancedIsTheRatioOfSamplesWithoutToSamplesWith) {
  EXPECT_EQ(weights({.balanced = true}, some_labels()), (std::vector<float>{1.5F, 1, 1}));
}

TEST(LabelWeights, AreTheFactorsAsTheyWereGiven) {
  EXPECT_EQ(weights({.factors = {0, 7, 0.5}}, some_labels()), (std::vector<float>{0, 7, 0.5F}));
  EXPECT_TRUE(weights({}, some_labels()).empty());
  EXPECT_CONTAINS(refusal({.factors = {1, 2}}, some_labels()), "has 2 factors, but data.train has 3 labels");
  EXPECT_CONTAINS(refusal({.factors = {0, 0, 0}}, some_labels()), "train.class_weights is 0 for all labels");
}

TEST(NumberWeights, AreTheFactorsAsTheyWereGiven) {
  EXPECT_EQ(weights({.factors = {3, 0.25}}, some_numbers()), (std::vector<float>{3, 0.25F}));
  EXPECT_CONTAINS(refusal({.balanced = true}, some_numbers()), "train.class_weights = balanced is for classes and ");
  EXPECT_CONTAINS(refusal({.factors = {1}}, some_numbers()), "has 1 factors, but data.train has 2 numbers");
}

}  // namespace
}  // namespace convoy
