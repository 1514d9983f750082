/// Ranks of this machine, placed: their processors are disjoint, and what follows from them is as before.
#include "convoy/comm/placement.h"

#include <atomic>
#include <cstdint>
#include <iterator>
#include <thread>

#include <gtest/gtest.h>

#include "convoy/comm/machine.h"
#include "convoy/comm/topology.h"

#include "comm/mpi/node_group.h"
#include "comm/processors.h"
#include "parallel/mpi_main.h"

namespace convoy {
namespace {

using test::world;

// Places the ranks for the length of a test, if they can be: mpirun has not bound them.
class Placement : public testing::Test {
 protected:
  void TearDown() override { bind_process(before_); }

  const ProcessorSet before_ = own_processors();
  const std::int64_t threads_ = fair_threads(world());
  const bool can_be_placed_ = world().size() > 1 && threads_* world().size() == std::ssize(before_) &&
                              quota_processors() == kNoQuota;
};

TEST_F(Placement, GivesRanksThatFillTheNodeProcessorsOfTheirOwn) {
  if (!can_be_placed_) GTEST_SKIP() << "these ranks do not fill this machine";
  EXPECT_FALSE(find_rank_place(world()).is_own);
  EXPECT_EQ(placement_summary(world()), "");
  const NodeLoad load = find_node_load(world(), threads_);
  place_ranks(world(), threads_);
  const RankPlace place = find_rank_place(world());
  EXPECT_TRUE(place.is_own);
  EXPECT_EQ(place.num_processors, threads_);
  EXPECT_TRUE(placement_summary(world()).starts_with("each rank on ")) << placement_summary(world());
  EXPECT_EQ(world().sum(place.num_processors), std::ssize(before_)) << "all of them are given";
  EXPECT_EQ(fair_threads(world()), threads_);
  EXPECT_EQ(find_node_load(world(), threads_), load);
  const ProcessorSet mine = own_processors();
  place_ranks(world(), threads_);
  EXPECT_EQ(own_processors(), mine) << "once placed they stay";
}

TEST_F(Placement, HoldsForThreadsThatAreThereAndForThoseToCome) {
  if (!can_be_placed_) GTEST_SKIP() << "these ranks do not fill this machine";
  ProcessorSet of_early;
  std::atomic<bool> placed = false;
  std::thread early([&] {
    placed.wait(false);
    of_early = own_processors();
  });
  place_ranks(world(), threads_);
  placed = true;
  placed.notify_one();
  early.join();
  EXPECT_EQ(of_early, own_processors());
  ProcessorSet of_late;
  std::thread([&] { of_late = own_processors(); }).join();
  EXPECT_EQ(of_late, own_processors());
}

TEST_F(Placement, LeavesRanksWhoseThreadsDoNotFillTheNode) {
  place_ranks(world(), threads_ + 1);
  EXPECT_EQ(own_processors(), before_);
  EXPECT_EQ(find_rank_place(world()).is_own, world().size() == 1);
  const bool are_crowded = world().size() > std::ssize(before_);
  EXPECT_EQ(placement_summary(world()).ends_with(" processor") || placement_summary(world()).ends_with(" processors"),
            are_crowded)
      << placement_summary(world());
}

}  // namespace
}  // namespace convoy
