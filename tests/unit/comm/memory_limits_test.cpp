/// Limits of memory as systems say them.
#include "convoy/comm/memory_limits.h"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

namespace convoy {

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

}  // namespace convoy
