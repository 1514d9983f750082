/// Tests the verdict on memory that ranks share.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "preflight/memory_checks.h"

namespace convoy::preflight {

namespace {

constexpr std::int64_t kMebibyte = std::int64_t{1} << 20;

RankMemory rank_with(std::int64_t needed, const std::vector<MemoryLimit>& limits, const std::string& host = "n1") {
  return {.host = host, .limits = limits, .host_bytes = needed};
}

}  // namespace

TEST(Memory, OfAllRanksOfANodeTogetherIsComparedAndTheTightestNodeNamed) {
  const std::vector<MemoryLimit> first = {{"n1", "memory of the node", 100 * kMebibyte}};
  const std::vector<MemoryLimit> second = {{"n2", "memory of the node", 100 * kMebibyte}};
  const Finding enough = judge_memory({rank_with(50 * kMebibyte, first), rank_with(40 * kMebibyte, second, "n2"),
                                       rank_with(40 * kMebibyte, second, "n2")});
  EXPECT_EQ(enough, ok("the tightest is n2: 2 ranks need 80.0 MiB of 100.0 MiB (memory of the node)"));
  const Finding nearly = judge_memory({rank_with(50 * kMebibyte, first), rank_with(45 * kMebibyte, second, "n2"),
                                       rank_with(50 * kMebibyte, second, "n2")});
  EXPECT_EQ(nearly.outcome, Outcome::kWarning) << nearly.text;
  const Finding too_little = judge_memory({rank_with(50 * kMebibyte, first), rank_with(60 * kMebibyte, second, "n2"),
                                           rank_with(60 * kMebibyte, second, "n2")});
  EXPECT_EQ(too_little.outcome, Outcome::kFails);
  EXPECT_TRUE(too_little.text.starts_with("n2: 2 ranks need 120.0 MiB of 100.0 MiB")) << too_little.text;
}

TEST(Memory, OfAControlGroupIsThatOfItsOwnRanksAlone) {
  const MemoryLimit node{"n1", "memory of the node", 1000 * kMebibyte};
  const auto group = [](const std::string& name) {
    return MemoryLimit{"n1 " + name, "limit of the control group " + name, 100 * kMebibyte};
  };
  const Finding finding =
      judge_memory({rank_with(80 * kMebibyte, {node, group("/a")}), rank_with(80 * kMebibyte, {node, group("/b")})});
  EXPECT_EQ(finding.outcome, Outcome::kOk) << finding.text;
}

TEST(Memory, ThatOtherProcessesHoldIsAWarning) {
  RankMemory rank = rank_with(60 * kMebibyte, {{"n1", "memory of the node", 100 * kMebibyte}});
  rank.resident = 10 * kMebibyte;
  rank.available = 50 * kMebibyte;
  EXPECT_EQ(judge_memory({rank}).outcome, Outcome::kOk);
  rank.available = 49 * kMebibyte;
  EXPECT_EQ(judge_memory({rank}).outcome, Outcome::kWarning);
}

TEST(Memory, OfAGpuThatTwoRanksShareIsThatOfBoth) {
  RankMemory rank;
  rank.of_device = {{"GPU-1", "memory of its GPU", 100 * kMebibyte}};
  rank.device_bytes = 60 * kMebibyte;
  EXPECT_EQ(judge_memory({rank}).outcome, Outcome::kOk);
  EXPECT_EQ(judge_memory({rank, rank}).outcome, Outcome::kFails);
}

TEST(Memory, OfAnAddressSpaceIsWhatTheProcessMapsAndTheReservesOfItsThreads) {
  RankMemory rank = rank_with(300 * kMebibyte, {{"n1", "memory of the node", 10000 * kMebibyte}});
  rank.resident = 100 * kMebibyte;
  rank.threads = 2;
  const auto judge_with = [&](std::int64_t bytes) {
    rank.of_process = {{.option = "ulimit -v", .bytes = bytes, .taken = 500 * kMebibyte}};
    return judge_memory({rank});
  };
  EXPECT_EQ(judge_with(699 * kMebibyte).outcome, Outcome::kFails);
  EXPECT_TRUE(judge_with(699 * kMebibyte).text.starts_with("rank 0 on n1: ulimit -v is 699.0 MiB"));
  EXPECT_EQ(judge_with(700 * kMebibyte).outcome, Outcome::kWarning);
  EXPECT_EQ(judge_with(700 * kMebibyte + 2 * thread_reserve()).outcome, Outcome::kOk);
}

}  // namespace convoy::preflight
