/// The shares that ranks get of the processors they share, and the ranks that get none.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "comm/processors.h"
#include "unit/comm/described_machines.h"

namespace convoy {

namespace {

using Names = std::vector<std::string>;

Names names_of(const std::vector<ProcessorSet>& shares) {
  Names names;
  for (const ProcessorSet& share : shares) names.push_back(to_string(share));
  return names;
}

struct Range {
  std::int64_t first = 0, last = 0;
};

ProcessorSet processors_of(Range range) {
  ProcessorSet processors(static_cast<std::size_t>(range.last - range.first + 1));
  std::iota(processors.begin(), processors.end(), range.first);
  return processors;
}

Names shares_of(const char* machine, Range processors, std::int64_t size) {
  return names_of(divide_processors(Machine(machine), processors_of(processors), size));
}

Names shares_of_all(const char* machine, std::int64_t size) {
  return shares_of(machine, {0, 31}, size);
}

AffinityMask mask_of(Range range) {
  AffinityMask mask = {};
  for (const std::int64_t number : processors_of(range))
    mask[static_cast<std::size_t>(number / 64)] |= std::uint64_t{1} << (number % 64);
  return mask;
}

// By rank; -1: it is left alone.
std::vector<std::int64_t> found_shares(const std::vector<Range>& ranks, std::int64_t threads,
                                       std::int64_t quota = kNoQuota) {
  std::vector<AffinityMask> masks;
  for (const Range& rank : ranks) masks.push_back(mask_of(rank));
  std::vector<std::int64_t> shares;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const std::optional<std::size_t> share = find_share(masks, rank, threads, quota);
    shares.push_back(share ? static_cast<std::int64_t>(*share) : -1);
  }
  return shares;
}

}  // namespace

TEST(Shares, OfTwoSocketsKeepHardwareThreadsOfACoreTogetherAndADomainsRanksInIt) {
  EXPECT_EQ(shares_of_all(test::kXeons, 16), (Names{"0-7,16-23", "8-15,24-31"}));
  EXPECT_EQ(shares_of_all(test::kXeons, 8), (Names{"0-3,16-19", "4-7,20-23", "8-11,24-27", "12-15,28-31"}));
  EXPECT_EQ(shares_of_all(test::kXeons, 2)[1], "1,17");
}

TEST(Shares, OfOneDomainKeepARanksThreadsInOneCache) {
  EXPECT_EQ(shares_of_all(test::kEpyc, 4), (Names{"0-3", "4-7", "8-11", "12-15", "16-19", "20-23", "24-27", "28-31"}));
  EXPECT_EQ(shares_of_all(test::kEpyc, 8), (Names{"0-7", "8-15", "16-23", "24-31"}));
  EXPECT_EQ(shares_of_all(test::kEpyc, 2)[1], "2-3");
}

TEST(Shares, AreInTheOrderOfNumbersWhereTheMachineIsNotKnown) {
  EXPECT_EQ(shares_of_all(test::kUnknown, 16), (Names{"0-15", "16-31"}));
  EXPECT_EQ(shares_of_all("package:2 core:4 pu:2", 16), (Names{"0-15", "16-31"})) << "it has 16 processors";
}

TEST(Shares, GiveEachProcessorOnce) {
  for (const std::int64_t size : {1, 2, 4, 8, 16, 32}) {
    std::set<std::int64_t> given;
    for (const ProcessorSet& share : divide_processors(Machine(test::kXeons), processors_of({0, 31}), size)) {
      EXPECT_EQ(std::ssize(share), size);
      for (const std::int64_t number : share) EXPECT_TRUE(given.insert(number).second) << number;
    }
    EXPECT_EQ(given.size(), 32u) << size;
  }
}

TEST(UnevenShares, LieWithinADomainWhereverItHasRoom) {
  constexpr const char* kTwoDomains = "package:2 [numa] core:8 pu:1";
  EXPECT_EQ(shares_of(kTwoDomains, {0, 11}, 4), (Names{"0-3", "4-7", "8-11"}));
  EXPECT_EQ(shares_of(kTwoDomains, {0, 11}, 6), (Names{"0-5", "6-11"})) << "one must be on both";
  // Three ranks on two domains: the second is on both.
  EXPECT_EQ(shares_of("package:2 [numa] core:6 pu:1", {0, 11}, 4), (Names{"0-3", "4-5,10-11", "6-9"}));
  // In the order of numbers no rank would have a domain of its own but the middle one.
  EXPECT_EQ(shares_of("package:3 [numa] core:8 pu:1", {6, 17}, 4), (Names{"6-7,16-17", "8-11", "12-15"}));
}

TEST(FindShare, NumbersTheRanksThatFillTheProcessorsTheyShare) {
  EXPECT_EQ(found_shares({{0, 7}, {0, 7}, {0, 7}, {0, 7}}, 2), (std::vector<std::int64_t>{0, 1, 2, 3}));
  // mpirun --bind-to socket, say: two groups.
  EXPECT_EQ(found_shares({{0, 3}, {0, 3}, {4, 7}, {4, 7}}, 2), (std::vector<std::int64_t>{0, 1, 0, 1}));
  EXPECT_EQ(found_shares({{0, 7}, {0, 7}}, 4, 8), (std::vector<std::int64_t>{0, 1})) << "a quota of all of them";
}

TEST(FindShare, LeavesOthersAlone) {
  EXPECT_EQ(found_shares({{0, 7}}, 8), (std::vector<std::int64_t>{-1})) << "nobody to share with";
  EXPECT_EQ(found_shares({{0, 3}, {4, 7}}, 4), (std::vector<std::int64_t>{-1, -1})) << "bound by the launcher";
  EXPECT_EQ(found_shares({{0, 7}, {0, 7}}, 2), (std::vector<std::int64_t>{-1, -1})) << "processors are free";
  EXPECT_EQ(found_shares({{0, 7}, {0, 7}}, 8), (std::vector<std::int64_t>{-1, -1})) << "more threads than processors";
  EXPECT_EQ(found_shares({{0, 7}, {0, 7}}, 4, 7), (std::vector<std::int64_t>{-1, -1})) << "a quota";
  EXPECT_EQ(found_shares({{0, 3}, {0, 3}, {2, 5}}, 2), (std::vector<std::int64_t>{-1, -1, -1})) << "some are another's";
}

}  // namespace convoy
