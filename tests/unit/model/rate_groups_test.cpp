/// optimizer.groups: the parameters that a pattern matches.
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "convoy/base/error.h"
#include "convoy/model/network.h"

#include "unit/messages.h"

namespace convoy {

namespace {

using ::testing::HasSubstr;

std::map<std::string, double> factors(const std::vector<RateGroup>& groups) {
  std::map<std::string, double> by_name;
  for (const auto& cell : make_network({.name = "resnet20",
                          .input = ImageShape{8, 8, 1},
                          .micro_batch = 1,
                          .num_classes = 10,
                          .rate_groups = groups}))
    for (const auto& entry : cell->memory().parameters()) by_name[entry.spec.name] = entry.spec.rate_factor;
  return by_name;
}

}  // namespace

TEST(RateGroups, AreOneByDefault) {
  for (const auto& [name, factor] : factors({})) EXPECT_EQ(factor, 1) << name;
}

TEST(RateGroups, TheFirstThatMatchesCounts) {
  for (const auto& [name, factor] : factors({{"layer1.0.*", 0.5}, {"layer*", 0.25}, {"fc.bias", 8}})) {
    const double want = name.starts_with("layer1.0.") ? 0.5
                        : name.starts_with("layer")   ? 0.25
                        : name == "fc.bias"           ? 8
                                                      : 1;
    EXPECT_EQ(factor, want) << name;
  }
}

TEST(RateGroups, APatternThatMatchesNothingIsRefusedWithTheNearest) {
  EXPECT_THAT(
      test::message_of<RequestError>([] {
        factors({{"layr1.*", 0.1}});
      }),
      HasSubstr("optimizer.groups: 'layr1.*' matches no parameter. Nearest: layer1.*. The parameters are conv1.*"));
  // Running statistics have no learning rate.
  EXPECT_THAT(test::message_of<RequestError>([] { factors({{"bn1.running_mean", 0.1}}); }), HasSubstr("matches no"));
}

}  // namespace convoy
