/// Limits of memory as systems say them.
#include "convoy/comm/memory_limits.h"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "comm/processors.h"

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
  SystemFiles files() const { return {.proc = root_ / "proc"}; }
  // A mounted hierarchy, whose files are in `folder`: the groups from `root` down.
  void mount(const std::string& type, const std::string& folder, const std::string& options = "rw",
             const std::string& root = "/") {
    mounts_ +=
        "30 20 0:26 " + root + " " + (root_ / folder).string() + " rw shared:9 - " + type + " none " + options + "\n";
    write("proc/self/mountinfo", mounts_);
  }

  std::filesystem::path root_ =
      std::filesystem::temp_directory_path() / ("convoy-memory-limits-" + std::to_string(getpid()));
  std::string mounts_;
  const MemoryLimit node_{"n1", "memory of the node", 4 * kMebibyte};
};

}  // namespace

TEST_F(MemoryLimits, WithoutControlGroupsAreThoseOfTheNode) {
  EXPECT_EQ(find_memory_limits("n1", files()), std::vector{node_});
  EXPECT_EQ(available_memory(files()), 2 * kMebibyte);
}

TEST_F(MemoryLimits, OfVersion2AreThoseOfTheGroupAndOfAllAboveIt) {
  mount("cgroup2", "cgroup");
  write("proc/self/cgroup", "0::/slurm/job_12/step_0\n");
  write("cgroup/slurm/job_12/step_0/memory.max", "max\n");
  write("cgroup/slurm/job_12/memory.max", "2097152\n");
  EXPECT_EQ(
      find_memory_limits("n1", files()),
      (std::vector{node_, MemoryLimit{"n1 /slurm/job_12", "limit of the control group /slurm/job_12", 2 * kMebibyte}}));
}

TEST_F(MemoryLimits, OfVersion1AreReadFromTheHierarchyOfMemoryAndItsHugeNumberIsNone) {
  mount("cgroup", "cgroup/cpu", "rw,cpu,cpuacct");
  mount("cgroup", "cgroup/memory", "rw,memory");
  write("proc/self/cgroup", "9:cpu,cpuacct:/elsewhere\n4:memory:/job\n");
  write("cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  write("cgroup/memory/job/memory.limit_in_bytes", "1048576\n");
  EXPECT_EQ(find_memory_limits("n1", files()),
            (std::vector{node_, MemoryLimit{"n1 /job", "limit of the control group /job", kMebibyte}}));
}

TEST_F(MemoryLimits, OfAContainerThatSeesItsGroupAsTheRootAreFoundThere) {
  mount("cgroup2", "cgroup");
  write("proc/self/cgroup", "0::/a/name/of/the/host\n");
  write("cgroup/memory.max", "1048576\n");
  EXPECT_EQ(find_memory_limits("n1", files()),
            (std::vector{node_, MemoryLimit{"n1 /", "limit of the control group /", kMebibyte}}));
}

TEST_F(MemoryLimits, OfAGroupWithinAContainerAreThoseBelowTheContainersOwnGroup) {
  mount("cgroup2", "cgroup", "rw", "/docker/c1");
  write("proc/self/cgroup", "0::/docker/c1/inner\n");
  write("cgroup/memory.max", "2097152\n");
  write("cgroup/inner/memory.max", "1048576\n");
  EXPECT_EQ(
      find_memory_limits("n1", files()),
      (std::vector{node_, MemoryLimit{"n1 /docker/c1/inner", "limit of the control group /docker/c1/inner", kMebibyte},
                   MemoryLimit{"n1 /docker/c1", "limit of the control group /docker/c1", 2 * kMebibyte}}));
}

TEST_F(MemoryLimits, QuotasOfTimeAreTheLeastOfAllGroups) {
  EXPECT_EQ(quota_processors(files()), kNoQuota);
  mount("cgroup", "cgroup/cpu,cpuacct", "rw,cpu,cpuacct");
  write("proc/self/cgroup", "9:cpu,cpuacct:/job/step\n0::/other\n");
  write("cgroup/cpu,cpuacct/job/step/cpu.cfs_quota_us", "-1\n");
  write("cgroup/cpu,cpuacct/job/step/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota_processors(files()), kNoQuota);
  write("cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "300000\n");
  write("cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota_processors(files()), 3);
  mount("cgroup2", "cgroup/unified");
  write("cgroup/unified/other/cpu.max", "200000 100000\n");
  EXPECT_EQ(quota_processors(files()), 2);
}

TEST(ProcessLimits, OfTheAddressSpaceAreNamedOnceTheyAreNear) {
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  if (before.rlim_cur != RLIM_INFINITY) GTEST_SKIP() << "there is a limit already";
  EXPECT_TRUE(find_process_limits().empty());
  EXPECT_EQ(describe_near_limits(), "");
  const rlimit limit{.rlim_cur = rlim_t{1} << 40, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
  const std::vector<ProcessLimit> limits = find_process_limits();
  EXPECT_EQ(describe_near_limits(), "");
  const rlimit near{.rlim_cur = static_cast<rlim_t>(limits.front().taken + kMebibyte), .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_AS, &near), 0);
  const std::string text = describe_near_limits();
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
  ASSERT_EQ(limits.size(), 1u);
  EXPECT_EQ(limits.front().option, "ulimit -v");
  EXPECT_EQ(limits.front().bytes, std::int64_t{1} << 40);
  EXPECT_GT(limits.front().taken, kMebibyte);
  EXPECT_TRUE(text.starts_with(" The limit ulimit -v of this process is ")) << text;
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
