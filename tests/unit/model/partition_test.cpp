/// The cut of a chain is optimal, whole and in order.
#include "convoy/model/partition.h"

#include <algorithm>
#include <functional>

#include <gtest/gtest.h>

#include "convoy/base/error.h"
#include "convoy/base/random.h"

#include "unit/messages.h"
#include "unit/model/declared_input.h"

namespace convoy {

namespace {

double slowest(const std::vector<double>& seconds, const std::vector<CellRange>& ranges) {
  double max = 0;
  for (const CellRange& range : ranges) {
    double sum = 0;
    for (std::int64_t i = range.begin; i < range.end; ++i) sum += seconds[i];
    max = std::max(max, sum);
  }
  return max;
}

// The best result of all ways to cut, tried one by one.
double best_by_trying(const std::vector<double>& seconds, std::int64_t stages, const StageFits& fits = {}) {
  double best = 1e300;
  std::vector<CellRange> ranges;
  const std::function<void(std::int64_t)> extend = [&](std::int64_t begin) {
    if (std::ssize(ranges) == stages - 1) {
      ranges.push_back({begin, std::ssize(seconds)});
      bool all_fit = true;
      for (std::int64_t s = 0; fits && s < stages; ++s) all_fit = all_fit && fits(s, ranges[s]);
      if (all_fit) best = std::min(best, slowest(seconds, ranges));
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
      // The partitioner's sums are differences of prefix sums: equal up to a few roundings.
      EXPECT_NEAR(slowest(seconds, ranges), best_by_trying(seconds, stages), 1e-12);
    }
  }
}

// Early stages hold more micro-batches, so what fits depends on the stage, as in a pipeline.
TEST(Partition, EqualsTheBestOfThoseCutsWhoseStagesFit) {
  int num_bound = 0, num_impossible = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const std::int64_t n = 2 + static_cast<std::int64_t>(seed % 7);
    std::vector<double> seconds(n), bytes(n);
    for (std::int64_t i = 0; i < n; ++i) {
      seconds[i] = random_uniform({.seed = seed}, i);
      bytes[i] = random_uniform({.seed = seed}, 100 + i);
    }
    for (std::int64_t stages = 1; stages <= n; ++stages) {
      const StageFits fits = [&](std::int64_t stage, const CellRange& cells) {
        double sum = 0;
        for (std::int64_t i = cells.begin; i < cells.end; ++i) sum += bytes[i];
        return sum * static_cast<double>(stages - stage) <= 0.4 * static_cast<double>(n);
      };
      const auto ranges = partition(seconds, stages, fits);
      const double best = best_by_trying(seconds, stages, fits);
      if (best == 1e300) {
        EXPECT_TRUE(ranges.empty());
        ++num_impossible;
        continue;
      }
      ASSERT_EQ(std::ssize(ranges), stages);
      for (std::int64_t s = 0; s < stages; ++s) EXPECT_TRUE(fits(s, ranges[s]));
      EXPECT_NEAR(slowest(seconds, ranges), best, 1e-12);  // a few roundings, as above
      if (best > best_by_trying(seconds, stages) + 1e-9) ++num_bound;
    }
  }
  EXPECT_GT(num_bound, 20) << "the limit changes the cut";
  EXPECT_GT(num_impossible, 20);
}

const std::vector<std::string> kCells = {"stem",     "layer1.0", "layer1.1", "layer1.2", "layer2.0", "layer2.1",
                                         "layer2.2", "layer3.0", "layer3.1", "layer3.2", "head"};

TEST(Partition, ByHandIsAsGiven) {
  EXPECT_EQ(partition_at({3, 7}, kCells, 3), (std::vector<CellRange>{{0, 3}, {3, 7}, {7, 11}}));
  EXPECT_EQ(partition_at({}, kCells, 1), (std::vector<CellRange>{{0, 11}}));
}

TEST(Partition, ByHandIsRefusedWhereItIsNoneAndTheCellsAreNamed) {
  const auto refusal = [](const std::vector<std::int64_t>& cuts, std::int64_t stages) {
    return test::message_of<RequestError>([&] { partition_at(cuts, kCells, stages); });
  };
  const std::string cells =
      "0 stem, 1 layer1.0, 2 layer1.1, 3 layer1.2, 4 layer2.0, 5 layer2.1, 6 layer2.2, 7 layer3.0, 8 layer3.1, 9 "
      "layer3.2, 10 head.";
  EXPECT_EQ(refusal({99}, 1),
            "grid.cuts = 99 cuts the network, but grid.stages = 1 keeps it whole. Leave out grid.cuts, or give the "
            "stages.");
  EXPECT_EQ(refusal({3}, 3),
            "grid.cuts = 3 names 1 cell, but 2 are needed: the first cell of each stage after the first (interleaved: "
            "of each chunk after the first). The cells are " +
                cells);
  EXPECT_EQ(refusal({99}, 2),
            "grid.cuts = 99: no stage can begin with cell 99. Allowed: 1 to 10, of the cells " + cells);
  EXPECT_EQ(refusal({3, 11}, 3).find("grid.cuts = 3, 11: no stage can begin with cell 11. "), 0u);
  EXPECT_EQ(refusal({0, 3}, 3).find("grid.cuts = 0, 3: no stage can begin with cell 0. "), 0u);
  EXPECT_EQ(refusal({7, 3}, 3),
            "grid.cuts = 7, 3: 3 does not come after 7. Allowed: ascending numbers of cells, from 1 to 10.");
  EXPECT_EQ(refusal({3, 3}, 3).find("grid.cuts = 3, 3: 3 does not come after 3. "), 0u);
  EXPECT_NE(refusal(std::vector<std::int64_t>(11, 1), 12).find("grid.stages = 12"), std::string::npos);
}

TEST(Partition, OfADeepNetworkTheFirstAndLastCellsAreNamed) {
  const std::vector<std::string> cells(200, "cell");
  const std::string said = test::message_of<RequestError>([&] { partition_at({300}, cells, 2); });
  EXPECT_NE(said.find("of the cells 0 cell, 1 cell, 2 cell, 3 cell, ..., 196 cell, 197 cell, 198 cell, 199 cell."),
            std::string::npos)
      << said;
}

TEST(Partition, MoreStagesThanCellsAreRefused) {
  EXPECT_THROW(partition({1, 2, 3}, 4), RequestError);
  EXPECT_THROW(partition({1, 2, 3}, 0), RequestError);
}

TEST(Partition, EveryCellCostsSomething) {
  for (const std::string& name : network_names()) {
    const InputShape input = test::declared_input(name, {32, 32, 3}, {.length = 32, .vocabulary = 32});
    const Network network =
        make_network({.name = name, .input = input, .micro_batch = 4, .num_classes = test::kDeclaredOutputs});
    for (const double seconds : model_cell_seconds(network)) EXPECT_GT(seconds, 0) << name;
  }
}

}  // namespace convoy
