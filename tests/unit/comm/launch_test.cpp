/// What is concluded from the variables of launchers.
#include "convoy/comm/launch.h"

#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "convoy/base/error.h"

namespace convoy {

namespace {

/// Sets variables of launchers for the length of a test, which may itself be run by one.
class LaunchTest : public testing::Test {
 protected:
  LaunchTest() {
    for (const std::string name : {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMI_SIZE", "PMIX_RANK",
                                   "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS", "SLURM_STEP_ID"}) {
      if (const char* const value = std::getenv(name.c_str())) before_[name] = value;
      names_.push_back(name);
      unsetenv(name.c_str());
    }
  }
  void TearDown() override {
    for (const std::string& name : names_) unsetenv(name.c_str());
    for (const auto& [name, value] : before_) setenv(name.c_str(), value.c_str(), 1);
  }
  static void set(const char* name, const char* value) { setenv(name, value, 1); }

 private:
  std::vector<std::string> names_;
  std::map<std::string, std::string> before_;
};

}  // namespace

TEST_F(LaunchTest, WithoutALauncherIsOneProcess) {
  EXPECT_FALSE(find_launch().is_launched);
  EXPECT_NO_THROW(check_launch(find_launch(), 1));
}

TEST_F(LaunchTest, OfABatchScriptIsNone) {
  set("SLURM_PROCID", "0");
  set("SLURM_NTASKS", "3");
  EXPECT_FALSE(find_launch().is_launched);
  EXPECT_NE(describe_unused_tasks(find_launch(), "train").find("mpirun -n 3 convoy train"), std::string::npos);
  set("SLURM_NTASKS", "1");
  EXPECT_EQ(describe_unused_tasks(find_launch(), "train"), "");
}

TEST_F(LaunchTest, WithMoreTasksThanMpiHasRanksIsRefused) {
  set("SLURM_STEP_NUM_TASKS", "4");
  set("SLURM_PROCID", "3");
  set("SLURM_NTASKS", "4");
  const Launch launch = find_launch();
  EXPECT_TRUE(launch.is_launched);
  EXPECT_EQ(launch.rank, 3);
  EXPECT_THROW(check_launch(launch, 1), RequestError);
  EXPECT_NO_THROW(check_launch(launch, 4));
  EXPECT_NO_THROW(check_launch(launch, 6)) << "steps of several parts say the tasks of one of them";
  EXPECT_EQ(describe_unused_tasks(launch, "train"), "");
}

TEST_F(LaunchTest, OfAnMpirunWithinAStepIsTheMpiruns) {
  set("SLURM_STEP_NUM_TASKS", "4");
  set("SLURM_PROCID", "1");
  set("OMPI_COMM_WORLD_SIZE", "2");
  set("OMPI_COMM_WORLD_RANK", "0");
  const Launch launch = find_launch();
  EXPECT_EQ(launch.size, 2);
  EXPECT_EQ(launch.rank, 0);
  EXPECT_NO_THROW(check_launch(launch, 2));
}

TEST_F(LaunchTest, ByPmixAloneHasARankAndNoSize) {
  set("PMIX_RANK", "5");
  EXPECT_TRUE(find_launch().is_launched);
  EXPECT_EQ(find_launch().rank, 5);
  EXPECT_NO_THROW(check_launch(find_launch(), 1));
}

}  // namespace convoy
