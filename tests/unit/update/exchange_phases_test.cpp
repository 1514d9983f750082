/// The phases of an exchange add as the tree does, for any number of replicas, and grow with its logarithm.
#include "update/exchange_phases.h"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "convoy/model/arena_layout.h"

namespace convoy {

namespace {

/// Sums that say which were added to which: equal where the order was.
class NamedSums {
 public:
  std::int64_t of_replica(std::int64_t replica) { return add({-1, replica}); }
  std::int64_t of(std::int64_t left, std::int64_t right) { return add({left, right}); }

  /// Split at the largest power of two below their number.
  std::int64_t tree(const std::vector<std::int64_t>& addends, std::size_t begin, std::size_t end) {
    if (end - begin == 1) return addends[begin];
    const std::size_t middle = begin + std::bit_floor(end - begin - 1);
    const std::int64_t left = tree(addends, begin, middle);
    return of(left, tree(addends, middle, end));
  }
  std::int64_t tree(const std::vector<std::int64_t>& addends) { return tree(addends, 0, addends.size()); }

 private:
  std::int64_t add(const std::pair<std::int64_t, std::int64_t>& sum) {
    return names_.try_emplace(sum, std::ssize(names_)).first->second;
  }

  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> names_;
};

bool holds(const SliceRun& run, std::int64_t slice) {
  return run.first <= slice && slice < run.first + run.count;
}

// One phase of all replicas. held[r][s]: what replica r has of slice s.
std::vector<std::vector<std::int64_t>> after_phase(const std::vector<std::vector<TreePhase>>& phases, std::size_t k,
                                                   const std::vector<std::vector<std::int64_t>>& held,
                                                   NamedSums& sums) {
  auto after = held;
  for (std::size_t r = 0; r < phases.size(); ++r) {
    const TreePhase& phase = phases[r][k];
    const SliceRun& mine = phase.members[phase.me].keeps;
    for (std::int64_t s = 0; s < std::ssize(held[r]); ++s) {
      std::vector<std::int64_t> addends;
      for (const ExchangeMember& member : phase.members) addends.push_back(held[member.replica][s]);
      after[r][s] = holds(mine, s) ? sums.tree(addends) : -1;
    }
  }
  return after;
}

std::vector<std::vector<TreePhase>> phases_of_all(std::int64_t replicas, std::int64_t neighbours) {
  std::vector<std::vector<TreePhase>> phases;
  for (std::int64_t r = 0; r < replicas; ++r) phases.push_back(tree_phases(r, replicas, neighbours));
  return phases;
}

}  // namespace

TEST(ExchangePhases, AddTheOwnSlicesInTheOrderOfTheTree) {
  for (std::int64_t replicas = 1; replicas <= 48; ++replicas) {
    for (const std::int64_t neighbours : {1, 2, 3, 4, 8, 16}) {
      NamedSums sums;
      std::vector<std::int64_t> leaves;
      for (std::int64_t r = 0; r < replicas; ++r) leaves.push_back(sums.of_replica(r));
      std::vector<std::vector<std::int64_t>> held;
      for (std::int64_t r = 0; r < replicas; ++r) held.emplace_back(replicas, leaves[r]);
      const auto phases = phases_of_all(replicas, neighbours);
      for (std::size_t k = 0; k < phases[0].size(); ++k) held = after_phase(phases, k, held, sums);
      const std::int64_t whole = sums.tree(leaves);
      for (std::int64_t r = 0; r < replicas; ++r)
        ASSERT_EQ(held[r][slice_number(r, replicas)], whole) << replicas << " replicas, " << neighbours;
    }
  }
}

TEST(ExchangePhases, EachMemberKeepsAPartOfItsOwnOfWhatAllHold) {
  for (const std::int64_t replicas : {6, 8, 24, 1000, 1024}) {
    for (const std::int64_t r : {std::int64_t{0}, replicas / 3, replicas - 1}) {
      SliceRun held{.first = 0, .count = replicas};
      for (const TreePhase& phase : tree_phases(r, replicas, kMaxNeighbours)) {
        ASSERT_EQ(phase.members[phase.me].replica, r);
        std::vector<std::int64_t> firsts;
        for (const ExchangeMember& member : phase.members) {
          EXPECT_EQ(member.keeps.count * std::ssize(phase.members), held.count);
          EXPECT_TRUE(holds(held, member.keeps.first));
          firsts.push_back(member.keeps.first);
        }
        std::ranges::sort(firsts);
        EXPECT_EQ(std::ranges::adjacent_find(firsts), firsts.end()) << "two members keep the same";
        held = phase.members[phase.me].keeps;
      }
      EXPECT_EQ(held.count, 1);
      EXPECT_EQ(held.first, slice_number(r, replicas));
    }
  }
}

TEST(ExchangePhases, AreOneForTheNodeOneForEachFactorOfTwoAndOneForTheRest) {
  using Sizes = std::vector<std::int64_t>;
  EXPECT_EQ(phase_sizes(1, 8), Sizes{});
  EXPECT_EQ(phase_sizes(6, 8), Sizes{6});
  EXPECT_EQ(phase_sizes(8, 8), Sizes{8});
  EXPECT_EQ(phase_sizes(16, 1), (Sizes{2, 2, 2, 2}));
  EXPECT_EQ(phase_sizes(24, 8), (Sizes{8, 3}));
  EXPECT_EQ(phase_sizes(24, 6), (Sizes{4, 2, 3}));
  EXPECT_EQ(phase_sizes(1024, 8), (Sizes{8, 2, 2, 2, 2, 2, 2, 2}));
  EXPECT_EQ(phase_sizes(1000, 8), (Sizes{8, 125}));
  EXPECT_EQ(phase_sizes(1023, 8), (Sizes{1023}));
}

TEST(SliceNumber, IsAnotherForEachOwner) {
  for (std::int64_t owners = 1; owners <= 100; ++owners) {
    std::vector<std::int64_t> numbers;
    for (std::int64_t r = 0; r < owners; ++r) numbers.push_back(slice_number(r, owners));
    std::ranges::sort(numbers);
    for (std::int64_t i = 0; i < owners; ++i) ASSERT_EQ(numbers[i], i) << owners;
  }
}

}  // namespace convoy
