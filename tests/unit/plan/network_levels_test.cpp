/// Tests of the times of a step's messages at the rates of their level of the network, on numbers worked out by hand.
#include <vector>

#include <gtest/gtest.h>

#include "plan/step_costs.h"
#include "update/exchange_phases.h"

namespace convoy {

namespace {

using Sizes = std::vector<std::int64_t>;

// In an exchange, a message takes 1 second on a node and 1 more per byte; between nodes 100 seconds and 10 per byte.
const MachineRates kRates{
    .on_node = {.latency_seconds = 1, .bytes_per_second = 5, .exchange_bytes_per_second = 1},
    .between_nodes = {.latency_seconds = 100, .bytes_per_second = 5, .exchange_bytes_per_second = 0.1}};

NetworkLevels levels(const GridShape& grid, std::int64_t ranks_a_node, const MachineRates& rates = kRates) {
  return {rates, grid, ranks_a_node};
}

}  // namespace

TEST(NetworkLevels, ABoundaryIsBetweenNodesWhereAnyReplicaHasItThere) {
  const auto is_between = [](const GridShape& grid, std::int64_t ranks_a_node, std::int64_t stage) {
    return levels(grid, ranks_a_node).after_stage(stage) == kRates.between_nodes;
  };
  EXPECT_FALSE(is_between({.stages = 4, .replicas = 8}, 4, 1)) << "a replica per node";
  EXPECT_TRUE(is_between({.stages = 4, .replicas = 8}, 2, 1));
  EXPECT_FALSE(is_between({.stages = 4, .replicas = 8}, 2, 2));
  EXPECT_TRUE(is_between({.stages = 4, .replicas = 8}, 2, 3)) << "back to the first, of chunks";
  EXPECT_TRUE(is_between({.stages = 3, .replicas = 8}, 4, 0)) << "of replica 1";
  EXPECT_FALSE(is_between({.stages = 3, .replicas = 1}, 4, 0));
  EXPECT_TRUE(is_between({.stages = 2, .replicas = 1}, 1, 0)) << "a rank per node";
}

TEST(NetworkLevels, AnExchangeHasItsFirstRoundsOnTheNode) {
  // With 64 bytes: 3 messages of 16 bytes among four ranks of a node; then messages of 8 and of 4 bytes between nodes.
  const NetworkLevels sixteen = levels({.stages = 1, .replicas = 16}, 4);
  EXPECT_EQ(sixteen.replicas_on_a_node(), 4);
  EXPECT_DOUBLE_EQ(sixteen.exchange(Sizes{4, 2, 2}, 64).waiting, 3 * (1 + 16) + (100 + 80) + (100 + 40));
  // All 16 at once: three messages on the node, twelve to other nodes.
  EXPECT_DOUBLE_EQ(sixteen.exchange(Sizes{16}, 64).waiting, 3 * (1 + 4) + 12 * (100 + 40));
  // With two stages, two replicas of a stage are on a node.
  EXPECT_DOUBLE_EQ(levels({.stages = 2, .replicas = 4}, 4).exchange(Sizes{2, 2}, 64).waiting, (1 + 32) + (100 + 160));
}

TEST(NetworkLevels, WhatRanksCopyThemselvesTakesTheirTime) {
  MachineRates rates = kRates;
  rates.copied_by_ranks = true;
  const ExchangeSeconds seconds = levels({.stages = 1, .replicas = 8}, 4, rates).exchange(Sizes{4, 2}, 64);
  EXPECT_DOUBLE_EQ(seconds.copying, 3 * 16) << "on the node";
  EXPECT_DOUBLE_EQ(seconds.waiting, 3 * 1 + (100 + 80)) << "latencies, and what leaves it";
}

TEST(NetworkLevels, AllRanksOfANodeShareWhatLeavesIt) {
  MachineRates rates = kRates;
  rates.node_bytes_per_second = 0.2;  // for 4 ranks that could send at 0.1 each
  EXPECT_DOUBLE_EQ(levels({.stages = 1, .replicas = 8}, 4, rates).exchange(Sizes{4, 2}, 64).waiting,
                   3 * (1 + 16) + (100 + 8 / 0.05));
  rates.node_bytes_per_second = 4;
  EXPECT_DOUBLE_EQ(levels({.stages = 1, .replicas = 8}, 4, rates).exchange(Sizes{4, 2}, 64).waiting,
                   3 * (1 + 16) + (100 + 8 / 0.1))
      << "each has its own link";
}

TEST(NetworkLevels, AgreementsDoubleOnTheNodeAndBetweenNodes) {
  EXPECT_DOUBLE_EQ(levels({.stages = 2, .replicas = 16}, 8).agreement_seconds(), 2 * (3 * 1 + 2 * 100));
  EXPECT_DOUBLE_EQ(levels({.stages = 1, .replicas = 2}, 8).agreement_seconds(), 2 * 1);
  EXPECT_DOUBLE_EQ(levels({.stages = 1, .replicas = 1}, 8).agreement_seconds(), 0);
}

}  // namespace convoy
