/// The cut of a chain is optimal, whole and in order.
#include "convoy/model/partition.h"

#include <algorithm>
#include <functional>

#include <gtest/gtest.h>

#include "convoy/base/error.h"
#include "convoy/base/random.h"

namespace convoy {

namespace {

double slowest(const std::vector<double>& seconds, const std::vector<CellRange>& ranges) {
  double most = 0;
  for (const CellRange& range : ranges) {
    double sum = 0;
    for (std::int64_t i = range.begin; i < range.end; ++i) sum += seconds[i];
    most = std::max(most, sum);
  }
  return most;
}

// The best of all ways to cut, tried one by one.
double best_by_trying(const std::vector<double>& seconds, std::int64_t stages) {
  double best = 1e300;
  std::vector<CellRange> ranges;
  const std::function<void(std::int64_t)> extend = [&](std::int64_t begin) {
    if (std::ssize(ranges) == stages - 1) {
      ranges.push_back({begin, std::ssize(seconds)});
      best = std::min(best, slowest(seconds, ranges));
      ranges.pop_back();
      return;
    }
    for (std::int64_t end = begin + 1; end < std::ssize(seconds); ++end) {
      ranges.push_back({begin, end});
      if (std::ssize(seconds) - end >= stages - std::ssize(ranges)) extend(end);
      ranges.pop_back();
    }
  };
  extend(0);
  return best;
}

}  // namespace

TEST(Partition, EqualsTheBestOfAllCuts) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const std::int64_t n = 1 + static_cast<std::int64_t>(seed % 9);
    std::vector<double> seconds(n);
    for (std::int64_t i = 0; i < n; ++i) seconds[i] = random_uniform({.seed = seed}, i);
    for (std::int64_t stages = 1; stages <= n; ++stages) {
      const auto ranges = partition(seconds, stages);
      ASSERT_EQ(std::ssize(ranges), stages);
      EXPECT_EQ(ranges.front().begin, 0);
      EXPECT_EQ(ranges.back().end, n);
      for (std::int64_t s = 0; s < stages; ++s) {
        EXPECT_GE(ranges[s].size(), 1);
        EXPECT_TRUE(s == 0 || ranges[s].begin == ranges[s - 1].end);
      }
      // Prefix sums are differences of sums: equal up to a few roundings.
      EXPECT_NEAR(slowest(seconds, ranges), best_by_trying(seconds, stages), 1e-12);
    }
  }
}

TEST(Partition, MoreStagesThanCellsAreRefused) {
  EXPECT_THROW(partition({1, 2, 3}, 4), RequestError);
  EXPECT_THROW(partition({1, 2, 3}, 0), RequestError);
}

TEST(Partition, EveryCellCostsSomething) {
  for (const std::string& name : network_names()) {
    const Network network = make_network({.name = name, .image = {32, 32, 3}, .micro_batch = 4, .num_classes = 10});
    for (const double seconds : model_cell_seconds(network)) EXPECT_GT(seconds, 0) << name;
  }
}

}  // namespace convoy
