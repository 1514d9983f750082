/// The grid's arithmetic and groups, and where its ranks sit.
#include "convoy/comm/process_grid.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "convoy/base/clock.h"
#include "convoy/base/error.h"
#include "convoy/comm/topology.h"

#include "comm/processors.h"
#include "parallel/mpi_main.h"
#include "unit/messages.h"

namespace convoy {
namespace {

using test::world;

std::string refusal_of(std::int64_t stages) {
  return test::message_of<RequestError>([&] { ProcessGrid(world(), stages); });
}

TEST(ProcessGrid, NeighboursInRankAreNeighboursInThePipelineForEveryDivisor) {
  for (int stages = 1; stages <= world().size(); ++stages) {
    if (world().size() % stages != 0) continue;
    const ProcessGrid grid(world(), stages);
    EXPECT_EQ(grid.num_stages(), stages);
    EXPECT_EQ(grid.num_replicas(), world().size() / stages);
    EXPECT_EQ(grid.stage(), world().rank() % stages);
    EXPECT_EQ(grid.replica(), world().rank() / stages);
    EXPECT_EQ(grid.world_rank(grid.replica(), grid.stage()), world().rank());
    EXPECT_EQ(grid.is_first_stage(), world().rank() % stages == 0);
    EXPECT_EQ(grid.is_last_stage(), world().rank() % stages == stages - 1);
    EXPECT_EQ(grid.is_root(), world().rank() == 0);
  }
}

TEST(ProcessGrid, OfFourRanksAsTwoByTwoHasTheGroupsOfTheDesign) {
  if (world().size() != 4) GTEST_SKIP() << "needs four ranks";
  const ProcessGrid grid(world(), 2);
  //           stage 0  stage 1
  // replica 0    0        1       model groups {0,1} {2,3}
  // replica 1    2        3       data groups  {0,2} {1,3}
  const int model_mask[] = {0b0011, 0b0011, 0b1100, 0b1100};
  const int data_mask[] = {0b0101, 0b1010, 0b0101, 0b1010};
  const int rank = world().rank();
  EXPECT_EQ(grid.model().sum(1 << rank), model_mask[rank]);
  EXPECT_EQ(grid.data().sum(1 << rank), data_mask[rank]);
  EXPECT_EQ(grid.model().rank(), rank % 2);
  EXPECT_EQ(grid.data().rank(), rank / 2);
  EXPECT_EQ(grid.world().size(), 4);
}

TEST(ProcessGrid, StagesThatDoNotDivideTheRanksAreRefusedWithThoseThatDo) {
  if (world().size() == 4) {
    EXPECT_EQ(refusal_of(3), "grid.stages = 3 does not divide the 4 ranks of this job. Allowed: 1, 2, 4.");
    EXPECT_EQ(refusal_of(8), "grid.stages = 8 does not divide the 4 ranks of this job. Allowed: 1, 2, 4.");
  }
  if (world().size() == 1) {
    EXPECT_EQ(refusal_of(2),
              "grid.stages = 2 does not divide the 1 rank of this job. Allowed: 1. To start more ranks, use mpirun, "
              "for example mpirun -n 2.");
  }
  for (const std::int64_t nonsense : {std::int64_t{0}, std::int64_t{-2}, std::int64_t{1} << 40}) {
    EXPECT_NE(refusal_of(nonsense).find("grid.stages = " + std::to_string(nonsense)), std::string::npos) << nonsense;
  }
  EXPECT_EQ(refusal_of(1), test::kNothingThrown);
}

TEST(Topology, OfRanksStartedOnOneMachineIsOneNode) {
  const Topology topology = find_topology(world());
  EXPECT_EQ(topology.num_nodes, 1);
  EXPECT_EQ(topology.local_rank, world().rank());
  EXPECT_EQ(topology.local_size, world().size());
  EXPECT_EQ(topology.min_ranks_on_a_node, world().size());
  EXPECT_EQ(topology.max_ranks_on_a_node, world().size());
}

TEST(Topology, IsSummedUpInOneLine) {
  EXPECT_EQ(host_summary({.num_nodes = 1, .min_ranks_on_a_node = 1, .max_ranks_on_a_node = 1}), "1 node, 1 rank on it");
  EXPECT_EQ(host_summary({.num_nodes = 1, .min_ranks_on_a_node = 4, .max_ranks_on_a_node = 4}),
            "1 node, 4 ranks on it");
  EXPECT_EQ(host_summary({.num_nodes = 2, .min_ranks_on_a_node = 4, .max_ranks_on_a_node = 4}),
            "2 nodes, 4 ranks on each");
  EXPECT_EQ(host_summary({.num_nodes = 3, .min_ranks_on_a_node = 2, .max_ranks_on_a_node = 4}),
            "3 nodes, 2 to 4 ranks on each");
}

TEST(FairThreads, IsThisNodesProcessorsOverItsRanksAndTheSameOnAll) {
  const std::int64_t threads = fair_threads(world());
  EXPECT_EQ(world().max(threads), threads);
  EXPECT_EQ(-world().max(-threads), threads);
  // The tests start mpirun without binding: all ranks have the same mask.
  const std::int64_t processors = count_processors(affinity_mask());
  const std::int64_t unlimited = std::max<std::int64_t>(1, processors / world().size());
  EXPECT_GE(threads, 1);
  if (quota_processors() == kNoQuota) {
    EXPECT_EQ(threads, unlimited);
  }
  EXPECT_LE(threads, unlimited);
}

TEST(NodeLoad, IsWhatTheProcessorsCanComputeAtOnce) {
  const auto processors = static_cast<double>(count_processors(affinity_mask()));
  if (quota_processors() != kNoQuota) GTEST_SKIP() << "a control group limits this job";
  const auto ranks = static_cast<double>(world().size());
  for (const std::int64_t threads : {1, 2, 3}) {
    const NodeLoad node = find_node_load(world(), threads);
    EXPECT_EQ(node.ranks, world().size());
    const double at_once = std::clamp(processors / static_cast<double>(threads), 1.0, ranks);
    EXPECT_NEAR(node.ranks_at_once, at_once, ranks * 1e-6) << "shares are told in millionths";
    EXPECT_EQ(node.is_shared(), at_once < ranks);
  }
}

TEST(NodeLoad, OfGpusHasAllRanksOfTheNodeAtOnce) {
  const NodeLoad node = find_gpu_node_load(world());
  EXPECT_EQ(node.ranks, world().size()) << "all are on this one";
  EXPECT_FALSE(node.is_shared());
}

struct Interval {
  double begin_seconds = 0, end_seconds = 0;
};

/// Returns on rank 0 the largest number of ranks that worked at the same time; 0 elsewhere. The ranks are on one
/// machine, and so have one clock.
std::int64_t max_at_once(const NodeLoad& node, bool in_pairs) {
  Interval mine;
  take_turns(world(), node, in_pairs, [&] {
    EXPECT_EQ(mine.end_seconds, 0) << "once";
    mine.begin_seconds = now_seconds();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    mine.end_seconds = now_seconds();
  });
  EXPECT_GT(mine.end_seconds, 0);
  const std::vector<std::byte> bytes = world().gather(std::as_bytes(std::span(&mine, 1)), 0);
  std::vector<Interval> all(bytes.size() / sizeof(Interval));
  std::ranges::copy(bytes, std::as_writable_bytes(std::span(all)).begin());
  std::int64_t max = 0;
  for (const Interval& one : all)
    max = std::max<std::int64_t>(max, std::count_if(all.begin(), all.end(), [&](const Interval& other) {
                                   return other.begin_seconds <= one.begin_seconds &&
                                          one.begin_seconds < other.end_seconds;
                                 }));
  return max;
}

TEST(NodeLoad, LimitsHowManyRanksWorkAtOnce) {
  const std::int64_t ranks = world().size();
  for (const double at_once : {1.0, 1.5, 2.0}) {
    const NodeLoad node{.ranks = ranks, .ranks_at_once = at_once};
    EXPECT_LE(max_at_once(node, false), node.is_shared() ? static_cast<std::int64_t>(at_once) : ranks);
    EXPECT_LE(max_at_once(node, true), std::min<std::int64_t>(2, ranks)) << "a pair, however few the cores are";
  }
}

TEST(NodeLoad, LetsRanksThatWorkWithEachOtherWorkAtOnce) {
  const int peer = world().rank() ^ 1;
  if (peer >= world().size()) GTEST_SKIP() << "no peer";
  take_turns(world(), {.ranks = world().size(), .ranks_at_once = 1}, /*in_pairs=*/true, [&] {
    int mine = world().rank(), theirs = -1;
    auto receive = world().start_receive(&theirs, sizeof theirs, peer, 1);
    auto send = world().start_send(&mine, sizeof mine, peer, 1);
    receive.wait();
    send.wait();
    EXPECT_EQ(theirs, peer);
  });
}

TEST(FairThreads, KnowsTheQuotasOfControlGroups) {
  EXPECT_EQ(quota_processors("200000 100000\n"), 2);
  EXPECT_EQ(quota_processors("250000 100000\n"), 2);  // half a processor is no thread
  EXPECT_EQ(quota_processors("50000 100000\n"), 1);
  EXPECT_EQ(quota_processors("max 100000\n"), kNoQuota);
  EXPECT_EQ(quota_processors(""), kNoQuota);
}

}  // namespace
}  // namespace convoy
