/// train.freeze: the names that a pattern matches, and its effect on the cells.
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "convoy/base/error.h"
#include "convoy/model/network.h"

#include "unit/messages.h"

namespace convoy {

namespace {

using ::testing::HasSubstr;

Network freeze(const std::vector<std::string>& patterns) {
  return make_network(
      {.name = "resnet20", .input = ImageShape{8, 8, 1}, .micro_batch = 1, .num_classes = 10, .freeze = patterns});
}

std::map<std::string, bool> frozen_by_name(const Network& network) {
  std::map<std::string, bool> frozen;
  for (const auto& cell : network)
    for (const auto& entry : cell->memory().parameters()) frozen[entry.spec.name] = entry.spec.frozen;
  return frozen;
}

std::string complaint(const std::vector<std::string>& patterns) {
  return test::message_of<RequestError>([&] { freeze(patterns); });
}

}  // namespace

TEST(Freezing, NothingIsFrozenByDefault) {
  for (const auto& cell : freeze({})) EXPECT_FALSE(cell->is_frozen()) << cell->name();
  EXPECT_EQ(count_frozen_parameters(freeze({})), 0);
}

TEST(Freezing, AGroupOfNamesFreezesItsCellsWithTheirStatistics) {
  const Network network = freeze({"layer1.*", "conv1.*"});
  for (const auto& cell : network) EXPECT_EQ(cell->is_frozen(), cell->name().starts_with("layer1.")) << cell->name();
  for (const auto& [name, frozen] : frozen_by_name(network))
    EXPECT_EQ(frozen, name.starts_with("layer1.") || name.starts_with("conv1.")) << name;
}

TEST(Freezing, ACellWithNothingLeftToTrainKeepsItsStatisticsToo) {
  const Network network = freeze({"layer1.0.*.weight", "layer1.0.bn?.bias"});
  EXPECT_TRUE(network[1]->is_frozen());
  const auto frozen = frozen_by_name(network);
  EXPECT_TRUE(frozen.at("layer1.0.bn1.running_mean"));
  EXPECT_FALSE(frozen.at("layer1.1.bn1.running_mean"));
}

TEST(Freezing, CountsTheFrozenValues) {
  // Three blocks of two 3x3 convolutions of 16 x 16 and two batch norms of 2 * 16.
  EXPECT_EQ(count_frozen_parameters(freeze({"layer1.*"})), 3 * 2 * (9 * 16 * 16 + 2 * 16));
}

TEST(Freezing, APatternThatMatchesNothingIsRefusedWithTheNearest) {
  EXPECT_THAT(complaint({"layer1.*", "layer7.*"}), HasSubstr("'layer7.*' matches no parameter. Nearest: layer1.*."));
  EXPECT_THAT(complaint({"layer2.0.conv1.weigth"}), HasSubstr("Nearest: layer2.0.conv1.weight."));
  EXPECT_THAT(complaint({"stem"}), HasSubstr("The parameters are conv1.*, bn1.*, layer1.*, layer2.*, layer3.*, fc.*."));
}

TEST(Freezing, NothingLeftToTrainIsRefused) {
  EXPECT_THAT(complaint({"*"}), HasSubstr("leaves nothing to train"));
  EXPECT_EQ(complaint({"[!f]*"}), test::kNothingThrown);
}

}  // namespace convoy
