/// convoy check FILE.cfg and convoy train --dry-run: they find and name what would keep a training from running.
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "app/program.h"
#include "app/small_data.h"

namespace convoy::test {

namespace {

using Words = std::vector<std::string>;

// The checks that every preflight of a complete request has a line for.
const Words kChecks = {"parameters", "data.train", "data.test", "hashes",    "data fit", "program", "libraries",
                       "processor",  "device",     "threads",   "placement", "clocks",   "plan",    "memory",
                       "checkpoint", "messages",   "directory", "disk",      "space",    "time"};

class Preflight : public testing::Test {
 protected:
  Preflight() : arguments_(import_small_data(directory_ / "small")), run_(directory_ / "run") {}

  ProcessResult check(const Words& more, int ranks = 0, const Words& tool = {}) const {
    Words arguments = arguments_ + Words{"--run.directory=" + run_} + more;
    arguments.front() = "check";
    return run_program({.arguments = arguments, .ranks = ranks, .timeout_seconds = 60, .tool = tool});
  }

  ProcessResult train(const Words& more, int ranks = 0) const {
    return run_program(
        {.arguments = arguments_ + Words{"--run.directory=" + run_} + more, .ranks = ranks, .timeout_seconds = 60});
  }

  // Returns the line of the table that begins with these words; "" if there is none.
  static std::string line_of(const std::string& output, const std::string& outcome, const std::string& check) {
    for (std::size_t at = 0; at < output.size();) {
      const std::size_t end = std::min(output.find('\n', at), output.size());
      std::string line = output.substr(at, end - at);
      const std::size_t name = line.find_first_not_of(' ', outcome.size());
      if (line.starts_with(outcome + " ") && name != std::string::npos && line.substr(name).starts_with(check + " "))
        return line;
      at = end + 1;
    }
    return "";
  }

  void expect_fails(const ProcessResult& result, const std::string& check, const std::string& says) const {
    EXPECT_EQ(result.status, 2) << result.output;
    EXPECT_FALSE(result.timed_out) << result.output;
    EXPECT_TRUE(contains(line_of(result.output, "failed", check), says)) << "wanted: " << says << "\n" << result.output;
    EXPECT_TRUE(contains(result.output, " not checked\n")) << "the table has its end\n" << result.output;
  }

  WorkingDirectory directory_;
  Words arguments_;
  std::string run_;
};

}  // namespace

TEST_F(Preflight, OfAGoodRequestHasALineForEachCheckAndLeavesNothing) {
  for (const int ranks : {1, 4}) {
    const ProcessResult result =
        check({"--check.hash=true", "--run.threads=1", ranks == 4 ? "--grid.stages=2" : "--grid.stages=1"}, ranks);
    EXPECT_EQ(result.status, 0) << result.output;
    for (const std::string& name : kChecks) {
      const bool is_there = !line_of(result.output, "ok", name).empty() ||
                            !line_of(result.output, "warning", name).empty() ||  // cores may be few here
                            !line_of(result.output, "not checked", name).empty();
      EXPECT_TRUE(is_there) << name << "\n" << result.output;
    }
    EXPECT_TRUE(contains(line_of(result.output, "ok", "data.train"), "640 images in 1 shard, 4 classes"))
        << result.output;
    EXPECT_TRUE(contains(line_of(result.output, "ok", "hashes"), "every byte is as it was written")) << result.output;
    EXPECT_EQ(line_of(result.output, "ok", "stages").empty(), ranks == 1) << result.output;
    EXPECT_EQ(line_of(result.output, "ok", "replicas").empty(), ranks == 1) << result.output;
    EXPECT_FALSE(std::filesystem::exists(run_)) << "the probe is removed";
  }
}

TEST_F(Preflight, TakesAParameterFile) {
  write_text(directory_ / "my.cfg", "[data]\ntrain = " + (directory_ / "small/data/train") +
                                        "\ntest = " + (directory_ / "small/data/test") +
                                        "\n[run]\ndevice = cpu\ndirectory = " + run_ + "\n");
  const ProcessResult result = run_program({.arguments = {"check", directory_ / "my.cfg"}});
  EXPECT_EQ(result.status, 0) << result.output;
}

TEST_F(Preflight, NamesSeveralProblemsOfTheParametersAtOnce) {
  const ProcessResult result = check({"--batch.micro=7", "--optimizer.nesterov=true", "--optimizer.momentum=0"}, 2);
  expect_fails(result, "parameters", "batch.micro = 7 does not divide batch.global = 64");
  EXPECT_TRUE(contains(result.output, "optimizer.nesterov = true needs optimizer.momentum above 0")) << result.output;
  EXPECT_FALSE(line_of(result.output, "ok", "data.train").empty()) << "data are checked all the same\n"
                                                                   << result.output;
  expect_fails(check({"--model.name=resnet19"}), "parameters", "model.name = resnet19 is not known");
  expect_fails(check({"--grid.stages=3"}, 4), "parameters", "grid.stages = 3 does not divide the 4 ranks");
}

TEST_F(Preflight, NamesAShardThatIsMissingOrCut) {
  expect_fails(check({"--data.test=" + (directory_ / "absent")}, 4), "data.test", "absent");
  const std::string shard = directory_ / "small/data/train.h5";
  std::filesystem::resize_file(shard, std::filesystem::file_size(shard) - 1000);
  const ProcessResult result = check({}, 4);
  expect_fails(result, "data.train", shard);
  EXPECT_FALSE(line_of(result.output, "ok", "data.test").empty()) << result.output;
  EXPECT_FALSE(line_of(result.output, "not checked", "plan").empty()) << result.output;
}

// Rank 1 does something else than the others: no rank waits for it, or for its messages.
TEST_F(Preflight, EndsAndNamesTheRankWhoseParametersDiffer) {
  const auto rank_1_has = [](const std::string& key) {
    return Words{"sh", "-c", "if [ \"$PMIX_RANK\" = 1 ]; then exec \"$0\" \"$@\" " + key + "; fi; exec \"$0\" \"$@\""};
  };
  expect_fails(check({}, 4, rank_1_has("--train.seed=7")), "parameters", "but on rank 1 on ");
  expect_fails(check({}, 4, rank_1_has("--train.seed=x")), "parameters", "rank 1 on ");
}

TEST_F(Preflight, EndsAndNamesTheRankThatLacksTheData) {
  const std::string elsewhere = "[ \"$PMIX_RANK\" = 1 ] || cd " + (directory_ / "small") + "; exec \"$0\" \"$@\"";
  const ProcessResult result = check({"--data.test=data/test", "--check.hash=true"}, 4, {"sh", "-c", elsewhere});
  expect_fails(result, "data.test", "rank 1 on ");
  EXPECT_TRUE(contains(result.output, "there is no such file or folder")) << result.output;
}

TEST_F(Preflight, FindsAByteOfAnImageThatHasChangedWhereItIsAskedTo) {
  const std::string shard = directory_ / "small/data/test.h5";
  std::string bytes = read_text(shard);
  bytes[bytes.size() - 64 - 500] ^= 1;  // before the trailer
  write_text(shard, bytes);
  EXPECT_EQ(check({}, 2).status, 0) << "the heads alone are read";
  expect_fails(check({"--check.hash=true"}, 2), "hashes", shard);
}

TEST_F(Preflight, NamesTheNodeWithoutEnoughMemory) {
  const ProcessResult result = check({"--grid.stages=2"}, 4, {"env", "SLURM_MEM_PER_NODE=40"});
  expect_fails(result, "memory", "of 40.0 MiB (--mem of the Slurm job)");
  EXPECT_TRUE(contains(line_of(result.output, "failed", "memory"), ": 4 ranks need ")) << result.output;
}

TEST_F(Preflight, NamesWhoHoldsTheDirectory) {
  std::filesystem::create_directories(run_);
  write_text(run_ + "/lock", "process 17 on node3, job 4711");
  const int file = open((run_ + "/lock").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(file, 0);
  struct flock whole {};
  whole.l_type = F_WRLCK;
  ASSERT_EQ(fcntl(file, F_SETLK, &whole), 0);
  expect_fails(check({}, 2), "directory", "is in use by process 17 on node3, job 4711");
  expect_fails(train({"--dry-run"}, 2), "directory", "is in use by process 17 on node3, job 4711");
  close(file);
  EXPECT_EQ(check({}, 2).status, 0);
}

TEST_F(Preflight, NamesADirectoryThatCannotBeMade) {
  // root may write everywhere, and only finds out by trying.
  expect_fails(check({"--run.directory=/proc/convoy"}, 2), geteuid() == 0 ? "disk" : "directory", "/proc/convoy");
  expect_fails(check({"--run.directory=" + (directory_ / "small/data/train.h5")}), "directory", "is not a directory");
}

TEST_F(Preflight, NamesADiskThatIsFull) {
  const std::string disk = directory_ / "disk";
  std::filesystem::create_directory(disk);
  const std::string mount = "mount -t tmpfs -o size=512k none " + disk + " || exit 77; exec \"$0\" \"$@\"";
  if (std::system("unshare -rm true") != 0) GTEST_SKIP() << "namespaces are forbidden here";
  const ProcessResult result = check({"--run.directory=" + disk + "/run"}, 0, {"unshare", "-rm", "sh", "-c", mount});
  if (result.status == 77) GTEST_SKIP() << "nothing can be mounted here";
  expect_fails(result, "disk", "No space left on device");
  expect_fails(result, "space", "checkpoints of ");
}

TEST_F(Preflight, RefusesTheCheckpointOfAnotherNetworkAndFollowsOneThatFits) {
  ASSERT_EQ(train({"--train.max_steps=2"}).status, 0);
  const ProcessResult fits = check({}, 4);
  EXPECT_EQ(fits.status, 0) << fits.output;
  EXPECT_TRUE(contains(line_of(fits.output, "ok", "checkpoint"),
                       "will resume from step 2 of 30: " + run_ + "/checkpoints/step-00000002.h5"))
      << fits.output;
  const ProcessResult other = check({"--model.name=resnet32"}, 4);
  expect_fails(other, "checkpoint", "step-00000002.h5 does not match this model");
  expect_fails(check({"--batch.micro=16"}), "checkpoint", "batch.micro = 16");
  expect_fails(check({"--optimizer.kind=adam"}), "checkpoint", "holds no optimizer state");
  const std::string weights = "--init.weights=" + run_ + "/checkpoints/step-00000002.h5",
                    elsewhere = "--run.directory=" + (directory_ / "elsewhere");
  EXPECT_EQ(check({weights, elsewhere}).status, 0);
  expect_fails(check({weights, elsewhere, "--model.name=resnet32"}), "weights", "does not match this model");
  expect_fails(check({"--init.weights=" + (directory_ / "absent.h5"), elsewhere}), "weights", "absent.h5");
}

TEST_F(Preflight, DryRunSaysWhatTrainWouldDoAndWritesNothing) {
  for (const int ranks : {1, 4}) {
    const ProcessResult result = train({"--dry-run", ranks == 4 ? "--grid.stages=2" : "--grid.stages=1"}, ranks);
    EXPECT_EQ(result.status, 0) << result.output;
    EXPECT_FALSE(line_of(result.output, "not checked", "messages").empty()) << result.output;
    EXPECT_FALSE(line_of(result.output, "not checked", "disk").empty()) << result.output;
    EXPECT_TRUE(contains(result.output, "\nconvoy train would begin and train to step 30\n")) << result.output;
    EXPECT_TRUE(contains(result.output,
                         ranks == 4 ? "grid: 2 stages x 2 replicas = 4 ranks" : "grid: 1 stage x 1 replica = 1 rank"))
        << result.output;
    EXPECT_FALSE(std::filesystem::exists(run_));
  }
  ASSERT_EQ(train({"--train.max_steps=2"}).status, 0);
  const ProcessResult resumed = train({"--dry-run"});
  EXPECT_TRUE(contains(resumed.output, "\nconvoy train would resume from " + run_ +
                                           "/checkpoints/step-00000002.h5 at step 2 and train to step 30\n"))
      << resumed.output;
}

TEST_F(Preflight, SaysWhetherTheJobsTimeIsEnough) {
  const ProcessResult over = check({}, 2, {"env", "SLURM_JOB_END_TIME=1"});
  expect_fails(over, "time", "the job's time is over");
  const ProcessResult enough = check({}, 2, {"env", "SLURM_JOB_END_TIME=99999999999"});
  EXPECT_FALSE(line_of(enough.output, "ok", "time").empty()) << enough.output;
}

}  // namespace convoy::test
