/// Which ranks measure messages with each other, and the rate that follows from the times of two messages.
#include <cstdint>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "calibrate/measure_rates.h"
#include "calibrate/ping.h"

namespace convoy {

namespace {

using Nodes = std::vector<std::int64_t>;  // the node of each rank

}  // namespace

TEST(Partners, AreNeighboursOnANodeAndRanksOfTheSameNumberOnTwoNodes) {
  const Nodes in_blocks = {0, 0, 0, 3, 3, 5}, in_turn = {0, 1, 0, 1, 0, 1};
  using Partner = std::optional<std::int64_t>;
  const auto partners = [](const Nodes& nodes, auto find) {
    std::vector<Partner> found;
    for (std::int64_t r = 0; r < std::ssize(nodes); ++r) found.push_back(find(nodes, r));
    return found;
  };
  EXPECT_EQ(partners(in_blocks, partner_on_node), (std::vector<Partner>{1, 0, {}, 4, 3, {}}));
  EXPECT_EQ(partners(in_blocks, partner_on_another_node), (std::vector<Partner>{3, 4, {}, 0, 1, {}}));
  EXPECT_EQ(partners(in_turn, partner_on_node), (std::vector<Partner>{2, 3, 0, 1, {}, {}}));
  EXPECT_EQ(partners(in_turn, partner_on_another_node), (std::vector<Partner>{1, 0, 3, 2, 5, 4}));
}

// Only disjoint pairs can be measured at the same time.
TEST(Partners, AreDisjointPairsOnEveryDivisionIntoNodes) {
  constexpr std::int64_t kRanks = 7, kNodes = 3;
  std::int64_t num_divisions = 1;
  for (std::int64_t i = 0; i < kRanks; ++i) num_divisions *= kNodes;
  for (std::int64_t division = 0; division < num_divisions; ++division) {
    Nodes nodes;
    for (std::int64_t rank = 0, rest = division; rank < kRanks; ++rank, rest /= kNodes) nodes.push_back(rest % kNodes);
    for (std::int64_t rank = 0; rank < kRanks; ++rank) {
      const auto here = partner_on_node(nodes, rank), there = partner_on_another_node(nodes, rank);
      if (here) {
        ASSERT_NE(*here, rank);
        ASSERT_EQ(nodes[*here], nodes[rank]);
        ASSERT_EQ(partner_on_node(nodes, *here), rank) << "division " << division;
      }
      if (there) {
        ASSERT_NE(nodes[*there], nodes[rank]);
        ASSERT_EQ(partner_on_another_node(nodes, *there), rank) << "division " << division;
      }
    }
  }
}

TEST(Ping, HasTheRateOfWhatComesAfterTheLatency) {
  EXPECT_DOUBLE_EQ(rate_after_latency(1000, 3, 1), 500);
  EXPECT_DOUBLE_EQ(rate_after_latency(1000, 2, 2), 1000 / 2e-3) << "only the latency was measured";
  EXPECT_DOUBLE_EQ(rate_after_latency(1000, 2, 5), 1000 / 2e-3) << "the short message was disturbed";
}

}  // namespace convoy
