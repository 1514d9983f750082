/// The shares that ranks get of the processors they share, and the ranks that get none.
#include "comm/processor_shares.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "unit/comm/fake_machine.h"

namespace convoy {

namespace {

using Names = std::vector<std::string>;

Names names_of(const std::vector<ProcessorSet>& shares) {
  Names names;
  for (const ProcessorSet& share : shares) names.push_back(to_string(share));
  return names;
}

// Returns the processors of a machine with one processor per core, in domains of these sizes.
std::vector<Processor> cores_in_domains(const std::vector<std::int64_t>& sizes) {
  std::vector<Processor> processors;
  for (std::size_t domain = 0; domain < sizes.size(); ++domain)
    for (std::int64_t i = 0; i < sizes[domain]; ++i) {
      const std::int64_t number = std::ssize(processors);
      processors.push_back({.number = number, .domain = static_cast<std::int64_t>(domain), .core = number});
    }
  return processors;
}

class Shares : public testing::Test {
 protected:
  Names shares_of_all(std::int64_t size) const {
    return names_of(divide_processors(find_processors(test::first_processors(32), machine_.sys()), size));
  }

  test::FakeMachine machine_;
};

AffinityMask mask_of(const ProcessorSet& processors) {
  AffinityMask mask = {};
  for (const std::int64_t number : processors)
    mask[static_cast<std::size_t>(number / 64)] |= std::uint64_t{1} << (number % 64);
  return mask;
}

std::vector<AffinityMask> masks_of(const Names& ranks) {
  std::vector<AffinityMask> masks;
  for (const std::string& rank : ranks) masks.push_back(mask_of(parse_processors(rank)));
  return masks;
}

// By rank; -1: it is left alone.
std::vector<std::int64_t> found_shares(const Names& ranks, std::int64_t threads, std::int64_t quota = kNoQuota) {
  std::vector<std::int64_t> shares;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const std::optional<std::size_t> share = find_share(masks_of(ranks), rank, threads, quota);
    shares.push_back(share ? static_cast<std::int64_t>(*share) : -1);
  }
  return shares;
}

}  // namespace

TEST_F(Shares, OfTwoSocketsKeepHardwareThreadsOfACoreTogetherAndADomainsRanksInIt) {
  test::make_xeons(machine_);
  EXPECT_EQ(shares_of_all(16), (Names{"0-7,16-23", "8-15,24-31"}));
  EXPECT_EQ(shares_of_all(8), (Names{"0-3,16-19", "4-7,20-23", "8-11,24-27", "12-15,28-31"}));
  EXPECT_EQ(shares_of_all(2)[1], "1,17");
}

TEST_F(Shares, OfOneDomainKeepARanksThreadsInOneCache) {
  test::make_epyc(machine_);
  EXPECT_EQ(shares_of_all(4), (Names{"0-3", "4-7", "8-11", "12-15", "16-19", "20-23", "24-27", "28-31"}));
  EXPECT_EQ(shares_of_all(8), (Names{"0-7", "8-15", "16-23", "24-31"}));
  EXPECT_EQ(shares_of_all(2)[1], "2-3");
}

TEST_F(Shares, OfAMachineThatTellsNothingAreInTheOrderOfNumbers) {
  EXPECT_EQ(shares_of_all(16), (Names{"0-15", "16-31"}));
}

TEST_F(Shares, GiveEachProcessorOnce) {
  test::make_xeons(machine_);
  const std::vector<Processor> processors = find_processors(test::first_processors(32), machine_.sys());
  for (const std::int64_t size : {1, 2, 4, 8, 16, 32}) {
    std::set<std::int64_t> given;
    for (const ProcessorSet& share : divide_processors(processors, size)) {
      EXPECT_EQ(std::ssize(share), size);
      for (const std::int64_t number : share) EXPECT_TRUE(given.insert(number).second) << number;
    }
    EXPECT_EQ(given.size(), 32u) << size;
  }
}

TEST(UnevenShares, LieWithinADomainWhereverItHasRoom) {
  EXPECT_EQ(names_of(divide_processors(cores_in_domains({8, 4}), 4)), (Names{"0-3", "4-7", "8-11"}));
  EXPECT_EQ(names_of(divide_processors(cores_in_domains({8, 4}), 6)), (Names{"0-5", "6-11"})) << "one must be on both";
  // Three ranks on two domains: the second is on both.
  EXPECT_EQ(names_of(divide_processors(cores_in_domains({6, 6}), 4)), (Names{"0-3", "4-5,10-11", "6-9"}));
  // In the order of numbers no rank would have a domain of its own but the middle one.
  EXPECT_EQ(names_of(divide_processors(cores_in_domains({2, 8, 2}), 4)), (Names{"0-1,10-11", "2-5", "6-9"}));
}

TEST(FindShare, NumbersTheRanksThatFillTheProcessorsTheyShare) {
  EXPECT_EQ(found_shares({"0-7", "0-7", "0-7", "0-7"}, 2), (std::vector<std::int64_t>{0, 1, 2, 3}));
  // mpirun --bind-to socket, say: two groups.
  EXPECT_EQ(found_shares({"0-3", "0-3", "4-7", "4-7"}, 2), (std::vector<std::int64_t>{0, 1, 0, 1}));
  EXPECT_EQ(found_shares({"0-7", "0-7"}, 4, 8), (std::vector<std::int64_t>{0, 1})) << "a quota of all of them";
}

TEST(FindShare, LeavesOthersAlone) {
  EXPECT_EQ(found_shares({"0-7"}, 8), (std::vector<std::int64_t>{-1})) << "nobody to share with";
  EXPECT_EQ(found_shares({"0-3", "4-7"}, 4), (std::vector<std::int64_t>{-1, -1})) << "bound by the launcher";
  EXPECT_EQ(found_shares({"0-7", "0-7"}, 2), (std::vector<std::int64_t>{-1, -1})) << "processors are free";
  EXPECT_EQ(found_shares({"0-7", "0-7"}, 8), (std::vector<std::int64_t>{-1, -1})) << "more threads than processors";
  EXPECT_EQ(found_shares({"0-7", "0-7"}, 4, 7), (std::vector<std::int64_t>{-1, -1})) << "a quota";
  EXPECT_EQ(found_shares({"0-3", "0-3", "2-5"}, 2), (std::vector<std::int64_t>{-1, -1, -1})) << "some are another's";
}

}  // namespace convoy
