/// Tests which ranks exchange messages, and when a pair counts as slow.
#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "preflight/message_checks.h"

namespace convoy::preflight {

namespace {

constexpr MessageSizes kSizes{.short_bytes = 0, .long_bytes = 1'000'000};

// Returns all pairs of the pairings as (lower rank, higher rank).
std::set<std::pair<std::int64_t, std::int64_t>> pairs_of(const GridShape& grid, bool wraps) {
  std::set<std::pair<std::int64_t, std::int64_t>> pairs;
  for (const Pairing& pairing : pairings_of(grid, wraps))
    for (std::int64_t rank = 0; rank < grid.ranks(); ++rank)
      if (const auto partner = partner_in(pairing, grid, rank)) pairs.insert(std::minmax(rank, *partner));
  return pairs;
}

std::vector<PairTime> equal_pairs(int count) {
  std::vector<PairTime> pairs;
  for (int i = 0; i < count; ++i)
    pairs.push_back({.rank = 2 * i, .partner = 2 * i + 1, .short_seconds = 1e-6, .long_seconds = 101e-6});
  return pairs;
}

std::vector<std::string> hosts_of(int ranks) {
  std::vector<std::string> hosts;
  for (int rank = 0; rank < ranks; ++rank) hosts.push_back("node" + std::to_string(rank));
  return hosts;
}

}  // namespace

TEST(Pairings, PairEachRankWithOneThatHasItAsItsPartner) {
  for (const GridShape grid : {GridShape{1, 1}, GridShape{2, 1}, GridShape{5, 3}, GridShape{4, 8}, GridShape{1, 7}}) {
    for (const Pairing& pairing : pairings_of(grid, true)) {
      for (std::int64_t rank = 0; rank < grid.ranks(); ++rank) {
        const auto partner = partner_in(pairing, grid, rank);
        if (!partner) continue;
        EXPECT_NE(*partner, rank);
        EXPECT_EQ(partner_in(pairing, grid, *partner), rank);
      }
    }
  }
}

TEST(Pairings, CoverAllNeighboursOfPipelinesAndTheReplicasOfRecursiveHalving) {
  using Pairs = std::set<std::pair<std::int64_t, std::int64_t>>;
  EXPECT_EQ(pairs_of({.stages = 1, .replicas = 1}, false), Pairs{});
  EXPECT_EQ(pairs_of({.stages = 4, .replicas = 1}, false), (Pairs{{0, 1}, {1, 2}, {2, 3}}));
  EXPECT_EQ(pairs_of({.stages = 4, .replicas = 1}, true), (Pairs{{0, 1}, {1, 2}, {2, 3}, {0, 3}}));
  EXPECT_EQ(pairs_of({.stages = 2, .replicas = 2}, false), (Pairs{{0, 1}, {2, 3}, {0, 2}, {1, 3}}));
  EXPECT_EQ(pairs_of({.stages = 1, .replicas = 4}, false), (Pairs{{0, 1}, {2, 3}, {0, 2}, {1, 3}}));
}

TEST(Pairings, AreAboutLog2OfAThousandReplicas) {
  EXPECT_EQ(pairings_of({.stages = 1, .replicas = 1000}, false).size(), 10u);
}

TEST(Messages, NameTheSlowestPairWithItsHostsAndWhatThePlanAssumes) {
  std::vector<PairTime> pairs = equal_pairs(8);
  pairs[3].long_seconds = 201e-6;
  const Finding finding =
      judge_messages(pairs, kSizes,
                     {.assumed = MachineRates{.on_node = {.bytes_per_second = 1},
                                              .between_nodes = {.latency_seconds = 1e-6, .bytes_per_second = 1e10}}},
                     hosts_of(16));
  EXPECT_EQ(finding, ok("8 pairs: 1 us + 10 GB/s; the slowest, rank 6 on node6 with rank 7 on node7: 1 us + 5 GB/s; "
                        "the plan assumes 1 us + 10 GB/s"));
}

TEST(Messages, OfAPairFarSlowerThanTheOthersAreAWarning) {
  std::vector<PairTime> pairs = equal_pairs(8);
  pairs[3].long_seconds = 21 * pairs[0].long_seconds;
  const Finding finding = judge_messages(pairs, kSizes, {}, hosts_of(16));
  EXPECT_EQ(finding.outcome, Outcome::kWarning);
  EXPECT_NE(finding.text.find("rank 6 on node6 with rank 7 on node7"), std::string::npos) << finding.text;
}

TEST(Messages, FarSlowerThanThePlanAssumesAreAWarningButNotWhereCoresAreShared) {
  const MachineRates fast{.between_nodes = {.latency_seconds = 1e-6, .bytes_per_second = 1e11}};
  EXPECT_EQ(judge_messages(equal_pairs(2), kSizes, {.assumed = fast}, hosts_of(4)).outcome, Outcome::kWarning);
  EXPECT_EQ(judge_messages(equal_pairs(2), kSizes, {.assumed = fast, .cores_are_shared = true}, hosts_of(4)).outcome,
            Outcome::kOk);
}

}  // namespace convoy::preflight
