/// How much each class counts in the loss: in proportion to what was asked for, 1 on average over the data.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "convoy/base/error.h"
#include "convoy/params/parameters.h"

#include "run/training_setup.h"

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

std::vector<float> weights(const ClassWeights& asked) {
  Parameters params;
  params.train.class_weights = asked;
  return class_weights(params, some_data());
}

std::string refusal(const ClassWeights& asked) {
  try {
    weights(asked);
  } catch (const RequestError& error) {
    return error.what();
  }
  return "";
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

TEST(ClassWeights, RefusesNumbersThatAreNotTheClasses) {
  EXPECT_NE(refusal({.factors = {1, 2}}).find("train.class_weights has 2 numbers, but data.train has 4 classes"),
            std::string::npos);
  EXPECT_NE(refusal({.factors = {0, 0, 1, 0}}).find("0 for every class that data.train has samples of"),
            std::string::npos);
}

}  // namespace
}  // namespace convoy
