/// Limits of memory as systems say them, and ranks that share them.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "preflight/memory_checks.h"
#include "preflight/memory_limits.h"

namespace convoy::preflight {

namespace {

constexpr std::int64_t kMebibyte = std::int64_t{1} << 20;

/// A system whose files a test writes.
class MemoryLimits : public testing::Test {
 protected:
  MemoryLimits() {
    write("proc/meminfo", "MemTotal:       4096 kB\nMemFree:        1024 kB\nMemAvailable:   2048 kB\n");
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void write(const std::string& name, const std::string& text) {
    std::filesystem::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
  }
  SystemFiles files() const { return {.proc = root_ / "proc", .cgroup = root_ / "cgroup"}; }

  std::filesystem::path root_ =
      std::filesystem::temp_directory_path() / ("convoy-memory-limits-" + std::to_string(getpid()));
  const MemoryLimit node_{"n1", "memory of the node", 4 * kMebibyte};
};

RankMemory rank_with(std::int64_t needed, const std::vector<MemoryLimit>& limits) {
  return {.limits = limits, .host_bytes = needed};
}

}  // namespace

TEST_F(MemoryLimits, WithoutControlGroupsAreThoseOfTheNode) {
  EXPECT_EQ(find_memory_limits("n1", files()), std::vector{node_});
  EXPECT_EQ(available_memory(files()), 2 * kMebibyte);
}

TEST_F(MemoryLimits, OfVersion2AreThoseOfTheGroupAndOfAllAboveIt) {
  write("proc/self/cgroup", "0::/slurm/job_12/step_0\n");
  write("cgroup/slurm/job_12/step_0/memory.max", "max\n");
  write("cgroup/slurm/job_12/memory.max", "2097152\n");
  EXPECT_EQ(
      find_memory_limits("n1", files()),
      (std::vector{node_, MemoryLimit{"n1 /slurm/job_12", "limit of the control group /slurm/job_12", 2 * kMebibyte}}));
}

TEST_F(MemoryLimits, OfVersion1AreReadFromTheHierarchyOfMemoryAndItsHugeNumberIsNone) {
  write("proc/self/cgroup", "9:cpu,cpuacct:/elsewhere\n4:memory:/job\n");
  write("cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  write("cgroup/memory/job/memory.limit_in_bytes", "1048576\n");
  EXPECT_EQ(find_memory_limits("n1", files()),
            (std::vector{node_, MemoryLimit{"n1 /job", "limit of the control group /job", kMebibyte}}));
}

TEST_F(MemoryLimits, OfAContainerThatSeesItsGroupAsTheRootAreFoundThere) {
  write("proc/self/cgroup", "0::/a/name/of/the/host\n");
  write("cgroup/memory.max", "1048576\n");
  EXPECT_EQ(find_memory_limits("n1", files()),
            (std::vector{node_, MemoryLimit{"n1 /", "limit of the control group /", kMebibyte}}));
}

TEST(SlurmMemory, IsTheNodesOrThatOfItsProcessorsAndZeroIsAllOfTheNode) {
  EXPECT_EQ(slurm_memory_limits("n1", "100", nullptr, nullptr),
            (std::vector{MemoryLimit{"n1 slurm", "--mem of the Slurm job", 100 * kMebibyte}}));
  EXPECT_EQ(slurm_memory_limits("n1", nullptr, "10", "4"),
            (std::vector{MemoryLimit{"n1 slurm", "--mem-per-cpu of the Slurm job", 40 * kMebibyte}}));
  EXPECT_TRUE(slurm_memory_limits("n1", "0", nullptr, "4").empty());
  EXPECT_TRUE(slurm_memory_limits("n1", nullptr, nullptr, nullptr).empty());
}

TEST(Memory, OfAllRanksOfANodeTogetherIsComparedAndTheTightestNodeNamed) {
  const std::vector<MemoryLimit> first = {{"n1", "memory of the node", 100 * kMebibyte}};
  const std::vector<MemoryLimit> second = {{"n2", "memory of the node", 100 * kMebibyte}};
  const std::vector<std::string> hosts = {"n1", "n2", "n2"};
  const Finding enough = judge_memory(
      {rank_with(50 * kMebibyte, first), rank_with(40 * kMebibyte, second), rank_with(40 * kMebibyte, second)}, hosts);
  EXPECT_EQ(enough, ok("the tightest is n2: 2 ranks need 80.0 MiB of 100.0 MiB (memory of the node)"));
  const Finding nearly = judge_memory(
      {rank_with(50 * kMebibyte, first), rank_with(45 * kMebibyte, second), rank_with(50 * kMebibyte, second)}, hosts);
  EXPECT_EQ(nearly.outcome, Outcome::kWarning) << nearly.text;
  const Finding too_little = judge_memory(
      {rank_with(50 * kMebibyte, first), rank_with(60 * kMebibyte, second), rank_with(60 * kMebibyte, second)}, hosts);
  EXPECT_EQ(too_little.outcome, Outcome::kFails);
  EXPECT_TRUE(too_little.text.starts_with("n2: 2 ranks need 120.0 MiB of 100.0 MiB")) << too_little.text;
}

TEST(Memory, OfAControlGroupIsThatOfItsOwnRanksAlone) {
  const MemoryLimit node{"n1", "memory of the node", 1000 * kMebibyte};
  const auto group = [](const std::string& name) {
    return MemoryLimit{"n1 " + name, "limit of the control group " + name, 100 * kMebibyte};
  };
  const Finding finding = judge_memory(
      {rank_with(80 * kMebibyte, {node, group("/a")}), rank_with(80 * kMebibyte, {node, group("/b")})}, {"n1", "n1"});
  EXPECT_EQ(finding.outcome, Outcome::kOk) << finding.text;
}

TEST(Memory, ThatOtherProcessesHoldIsAWarning) {
  RankMemory rank = rank_with(60 * kMebibyte, {{"n1", "memory of the node", 100 * kMebibyte}});
  rank.resident = 10 * kMebibyte;
  rank.available = 50 * kMebibyte;
  EXPECT_EQ(judge_memory({rank}, {"n1"}).outcome, Outcome::kOk);
  rank.available = 49 * kMebibyte;
  EXPECT_EQ(judge_memory({rank}, {"n1"}).outcome, Outcome::kWarning);
}

TEST(Memory, OfAGpuThatTwoRanksShareIsThatOfBoth) {
  RankMemory rank;
  rank.of_device = {{"GPU-1", "memory of its GPU", 100 * kMebibyte}};
  rank.device_bytes = 60 * kMebibyte;
  EXPECT_EQ(judge_memory({rank}, {"n1"}).outcome, Outcome::kOk);
  EXPECT_EQ(judge_memory({rank, rank}, {"n1", "n1"}).outcome, Outcome::kFails);
}

}  // namespace convoy::preflight
