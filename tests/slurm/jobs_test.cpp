/// The scripts of jobs/ in a real Slurm of two nodes: each does what it says, and a job goes on or ends as it should.
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "convoy/base/clock.h"

#include "app/program.h"
#include "app/small_data.h"

namespace convoy::test {

namespace {

using Words = std::vector<std::string>;

constexpr double kTimeoutSeconds = 240;

bool becomes_true(const std::function<bool()>& condition, double timeout_seconds = kTimeoutSeconds) {
  const double end = now_seconds() + timeout_seconds;
  while (!condition()) {
    if (now_seconds() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  return true;
}

// Jobs inherit the environment. Other tests' ranks are on one node and do without the network; these are on two.
ProcessResult run(const std::string& program, const Words& arguments) {
  return run_program({.arguments = arguments,
                      .timeout_seconds = kTimeoutSeconds,
                      .program = program,
                      .tool = {"env", "--unset=OMPI_MCA_btl"}});
}

int count(const std::string& text, const std::string& part) {
  int times = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++times;
  return times;
}

}  // namespace

/// A cluster, and data in a folder that all its nodes see; jobs are submitted from a folder that has nothing of Convoy.
class Jobs : public testing::Test {
 protected:
  explicit Jobs(Words variant = {}) : variant_(std::move(variant)) {}

  void SetUp() override {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    const ProcessResult start = run(CONVOY_CLUSTER, Words{"start", folder_ + "/cluster"} + variant_);
    if (start.status != 0) GTEST_SKIP() << start.output;
    setenv("SLURM_CONF", (folder_ + "/cluster/slurm.conf").c_str(), 1);
    setenv("OMPI_MCA_btl_tcp_if_include", "lo", 1);  // both nodes have one network, this machine's own
    setenv("CONVOY", CONVOY_PROGRAM, 1);
    std::filesystem::create_directories(folder_ + "/elsewhere");
    std::filesystem::current_path(folder_ + "/elsewhere");
    Words arguments = import_small_data(folder_ + "/small");
    arguments.erase(arguments.begin());  // "train", which the scripts say
    std::string file;
    for (std::string& argument : arguments) {
      argument.replace(0, 2, "");  // --section.key=value
      file += "[" + argument.substr(0, argument.find('.')) + "]\n" + argument.substr(argument.find('.') + 1) + "\n";
    }
    write_text(parameters(), file);
  }

  void TearDown() override {
    std::filesystem::current_path("/");
    run(CONVOY_CLUSTER, {"stop", folder_ + "/cluster"});
    std::error_code ignored;
    if (!HasFailure()) std::filesystem::remove_all(folder_, ignored);
  }

  std::string parameters() const { return folder_ + "/small.cfg"; }
  std::string data() const { return folder_ + "/small/data"; }
  std::string tables() const { return folder_ + "/tables"; }
  std::string node_disk(const std::string& node) const { return folder_ + "/cluster/tmp-" + node; }
  std::string run_directory() const { return folder_ + "/run"; }
  std::string log() const { return read_text(folder_ + "/log"); }

  // One job, or an array of them, to its end.
  ProcessResult submit_and_wait(const Words& options, const std::string& script, const Words& arguments) const {
    ProcessResult result = run("sbatch", Words{"--wait", "--output=" + folder_ + "/log", "--open-mode=append"} +
                                             options + Words{scripts_ + "/" + script} + arguments);
    result.output += log();
    return result;
  }
  ProcessResult train(const Words& options, const std::string& script, const Words& arguments = {}) const {
    return submit_and_wait(
        Words{"--cpus-per-task=1"} + options, script,
        Words{parameters(), "--train.max_steps=4", "--run.directory=" + run_directory()} + arguments);
  }

  // Returns the job's number.
  std::string submit_endless(const Words& options) const {
    const ProcessResult result =
        run("sbatch", Words{"--parsable", "--output=" + folder_ + "/log", "--ntasks-per-node=1", "--cpus-per-task=1"} +
                          options +
                          Words{scripts_ + "/requeue.sh", parameters(), "--train.epochs=1000000",
                                "--checkpoint.every_epochs=0", "--run.directory=" + run_directory()});
    EXPECT_EQ(result.status, 0) << result.output;
    return result.output.substr(0, result.output.find('\n'));
  }
  bool is_in_state(const std::string& job, const std::string& state) const {
    return contains(run("scontrol", {"show", "job", job}).output, "JobState=" + state + " ");
  }
  // The job trains at its start number n, after a checkpoint at each of those before.
  void expect_training_at_start(int n) const {
    EXPECT_TRUE(becomes_true([&] { return count(log(), "epoch: 10 steps") == n; })) << log();
    std::this_thread::sleep_for(std::chrono::seconds(2));  // some steps
    EXPECT_EQ(count(log(), "Start "), n) << log();
    EXPECT_EQ(count(log(), "resumed: "), n - 1) << log();
    EXPECT_EQ(count(log(), "stopped on request"), n - 1) << log();
  }
  void expect_cancelled_for_good(const std::string& job) const {
    const int starts = count(log(), "Start "), stops = count(log(), "stopped on request");
    EXPECT_EQ(run("scancel", {job}).status, 0);
    EXPECT_TRUE(becomes_true([&] { return is_in_state(job, "CANCELLED"); })) << log();
    EXPECT_EQ(count(log(), "stopped on request"), stops + 1) << "with a checkpoint\n" << log();
    std::this_thread::sleep_for(std::chrono::seconds(15));  // a requeued job begins ten seconds later
    EXPECT_TRUE(is_in_state(job, "CANCELLED"));
    EXPECT_EQ(count(log(), "Start "), starts) << log();
  }
  void preempt() const {
    EXPECT_EQ(run("sbatch",
                  {"--partition=urgent", "--nodes=2", "--exclusive", "--output=/dev/null", "--wait", "--wrap=sleep 1"})
                  .status,
              0);
  }
  void expect_trained(const std::string& name, const ProcessResult& result) const {
    EXPECT_EQ(result.status, 0) << result.output;
    EXPECT_TRUE(std::filesystem::exists(name + "/checkpoints/step-00000004.h5")) << result.output;
  }

  std::string scripts_ = CONVOY_ROOT "/jobs";

 private:
  const std::string folder_ = fmt::format("{}/jobs-{}", CONVOY_WORK, getpid());
  const Words variant_;
};

class JobsWithoutPmix : public Jobs {
 protected:
  JobsWithoutPmix() : Jobs({"without_pmix"}) {}
};

TEST_F(Jobs, TrainOnOneNode) {
  const ProcessResult result = train({"--ntasks=2"}, "one_node.sh", {"--grid.stages=2"});
  expect_trained(run_directory(), result);
  EXPECT_TRUE(contains(result.output, "1 node, 2 ranks on it")) << result.output;
}

TEST_F(Jobs, SayWhatToDoWhereTheProgramIsNotThere) {
  setenv("CONVOY", "/no/such/program", 1);
  const ProcessResult result = train({"--ntasks=1"}, "one_node.sh");
  EXPECT_EQ(result.status, 2) << result.output;
  EXPECT_TRUE(contains(result.output, "there is no program '/no/such/program'")) << result.output;
}

TEST_F(Jobs, TrainFromAnInstalledCopy) {
  const std::string prefix = run_directory() + "-prefix";
  std::filesystem::create_directories(prefix + "/bin");
  std::filesystem::create_directories(prefix + "/share/convoy");
  std::filesystem::create_symlink(CONVOY_PROGRAM, prefix + "/bin/convoy");
  scripts_ = prefix + "/share/convoy/jobs";
  std::filesystem::copy(CONVOY_ROOT "/jobs", scripts_);
  unsetenv("CONVOY");
  expect_trained(run_directory(), train({"--ntasks=1"}, "one_node.sh"));
}

TEST_F(Jobs, SayWhatToDoWhereAScriptWasCopiedAlone) {
  scripts_ = run_directory() + "-scripts";
  std::filesystem::create_directories(scripts_);
  std::filesystem::copy_file(CONVOY_ROOT "/jobs/one_node.sh", scripts_ + "/one_node.sh");
  const ProcessResult result = train({"--ntasks=1"}, "one_node.sh");
  EXPECT_EQ(result.status, 2) << result.output;
  EXPECT_TRUE(contains(result.output, "CONVOY_JOBS=/path/to/convoy/jobs")) << result.output;
  setenv("CONVOY_JOBS", CONVOY_ROOT "/jobs", 1);
  expect_trained(run_directory(), train({"--ntasks=1"}, "one_node.sh"));
  unsetenv("CONVOY_JOBS");
}

TEST_F(Jobs, AreRefusedWhereSrunDoesNotSpeakWithMpi) {
  const Words command = {CONVOY_PROGRAM, "train", parameters(), "--run.directory=" + run_directory()};
  const ProcessResult result = run("srun", Words{"--ntasks=3", "--mpi=none"} + command);
  EXPECT_EQ(result.status, 2) << result.output;
  EXPECT_EQ(count(result.output, "3 processes were started (SLURM_STEP_NUM_TASKS = 3), but MPI reports only 1 rank"), 3)
      << result.output;
  EXPECT_TRUE(contains(result.output, "srun --mpi=pmix")) << result.output;
  EXPECT_FALSE(std::filesystem::exists(run_directory()));
  const ProcessResult one = run("srun", Words{"--ntasks=1", "--mpi=none"} + command + Words{"--train.max_steps=4"});
  expect_trained(run_directory(), one);
}

TEST_F(Jobs, TrainOnSeveralNodesWithTheStagesOfAReplicaOnOne) {
  const ProcessResult result = train({"--ntasks-per-node=2"}, "several_nodes.sh");
  expect_trained(run_directory(), result);
  EXPECT_TRUE(contains(result.output, "2 nodes, 2 ranks on each; ")) << result.output;
}

TEST_F(Jobs, AskForGpusOnOneNodeAndOnSeveral) {  // which this cluster has in name only
  const ProcessResult one = train({"--ntasks=2", "--gres=gpu:2"}, "one_node_gpus.sh", {"--run.device=cpu"});
  expect_trained(run_directory(), one);
  const ProcessResult hybrid = train({"--nodes=2", "--ntasks-per-node=2", "--gres=gpu:2"}, "hybrid_gpus.sh",
                                     {"--run.device=cpu", "--run.directory=" + run_directory() + "-hybrid"});
  expect_trained(run_directory() + "-hybrid", hybrid);
  EXPECT_TRUE(contains(hybrid.output, "2 nodes, 2 ranks on each; ")) << hybrid.output;
}

TEST_F(Jobs, TrainAnArrayOfSeedsInARunDirectoryEach) {
  const ProcessResult result = submit_and_wait({"--array=3-4", "--ntasks=1", "--cpus-per-task=1"}, "seeds.sh",
                                               {run_directory(), parameters(), "--train.max_steps=4"});
  for (const std::string seed : {"3", "4"}) {
    expect_trained(run_directory() + "/seed-" + seed, result);
    EXPECT_TRUE(contains(read_text(run_directory() + "/seed-" + seed + "/params.cfg"), "seed = " + seed + " "));
  }
  EXPECT_TRUE(contains(result.output, "train.seed = 3; 4")) << "the table of the job that ends last\n" << result.output;
}

TEST_F(Jobs, TrainAnArrayOfFoldsAndSeedsInARunDirectoryEach) {
  const std::string folds = run_directory() + "-data";
  const ProcessResult imported = run(CONVOY_PROGRAM, {"import", "--import.source=" + data() + "/../idx",
                                                      "--import.output=" + folds, "--import.folds=2"});
  ASSERT_EQ(imported.status, 0) << imported.output;
  const Words options = {"--ntasks=1", "--cpus-per-task=1"},
              arguments = {run_directory(), parameters(), "--data.train=" + folds, "--train.max_steps=4"};
  const ProcessResult result = submit_and_wait(options + Words{"--array=1-2"}, "folds.sh", arguments);
  for (const std::string fold : {"1", "2"}) expect_trained(run_directory() + "/fold-" + fold, result);
  EXPECT_TRUE(contains(result.output, "data.fold = 1; 2")) << "the table of the job that ends last\n" << result.output;
  setenv("FOLDS", "2", 1);
  const ProcessResult seeds = submit_and_wait(options + Words{"--array=4"}, "folds.sh", arguments);
  unsetenv("FOLDS");
  expect_trained(run_directory() + "/fold-2-seed-2", seeds);
}

TEST_F(Jobs, TrainAnArrayOfParameterFilesInARunDirectoryEach) {
  const std::string other = run_directory() + "-other.cfg";
  std::filesystem::copy_file(parameters(), other);
  const Words arguments = {run_directory(), parameters(), other, "--train.max_steps=4"};
  const Words options = {"--ntasks=1", "--cpus-per-task=1"};
  const ProcessResult result = submit_and_wait(options + Words{"--array=1-2"}, "parameter_files.sh", arguments);
  expect_trained(run_directory() + "/small", result);
  expect_trained(run_directory() + "/run-other", result);
  const ProcessResult too_many = submit_and_wait(options + Words{"--array=3"}, "parameter_files.sh", arguments);
  EXPECT_EQ(too_many.status, 2) << too_many.output;
  EXPECT_TRUE(contains(too_many.output, "Submit with --array=1-2")) << too_many.output;
}

TEST_F(Jobs, MeasureATableWithARowInEachJobOfAnArray) {
  const Words arguments = {parameters(),           "--run.directory=" + run_directory(),
                           "--sweep.micro=8,16",   "--sweep.steps=2",
                           "--sweep.warm_steps=1", "--sweep.rounds=1"};
  const Words options = {"--ntasks=1", "--cpus-per-task=1"};
  const ProcessResult result = submit_and_wait(options + Words{"--array=1-2"}, "sweep.sh", arguments);
  EXPECT_EQ(result.status, 0) << result.output;
  const std::string table = read_text(run_directory() + "/sweep.csv");
  EXPECT_TRUE(contains(table, "\n1,8,")) << table;
  EXPECT_TRUE(contains(table, "\n2,16,")) << table;
  EXPECT_FALSE(contains(table, ",,,")) << "a row was not measured\n" << table;
  const ProcessResult too_many = submit_and_wait(options + Words{"--array=3"}, "sweep.sh", arguments);
  EXPECT_EQ(too_many.status, 2) << too_many.output;
  EXPECT_TRUE(contains(too_many.output, "sweep.row = 3: this sweep has 2 rows")) << too_many.output;
}

TEST_F(Jobs, ImportEvaluateAndPredict) {
  const std::string imported = run_directory() + "-data";
  const ProcessResult import = submit_and_wait(
      {"--ntasks=3"}, "import.sh", {"--import.source=" + data() + "/../idx", "--import.output=" + imported});
  EXPECT_EQ(import.status, 0) << import.output;
  const Words from_it = {"--data.train=" + imported + "/train", "--data.test=" + imported + "/test"};
  expect_trained(run_directory(), train({"--ntasks=1"}, "one_node.sh", from_it));
  const Words options = {"--ntasks=2", "--cpus-per-task=1"};
  const ProcessResult evaluation = submit_and_wait(options, "evaluate.sh", {run_directory() + "/params.cfg"});
  EXPECT_EQ(evaluation.status, 0) << evaluation.output;
  EXPECT_TRUE(contains(evaluation.output, "96 samples")) << evaluation.output;
  const ProcessResult prediction =
      submit_and_wait(options, "predict.sh", {run_directory() + "/params.cfg", "--predict.data=" + imported + "/test"});
  EXPECT_EQ(prediction.status, 0) << prediction.output;
  EXPECT_EQ(count(read_text(run_directory() + "/predictions.csv"), "\n"), 96 + 1);
}

TEST_F(Jobs, ImportTextsOnceAndTrainOnThemWithPipelinesInEachNode) {
  write_small_tables(tables());
  const std::string imported = run_directory() + "-texts";
  const auto train_for = [&](int steps) {
    return submit_and_wait({"--ntasks-per-node=2", "--cpus-per-task=1"}, "hybrid_texts.sh",
                           {tables(), imported, "--model.name=transformer", "--model.length=16", "--model.width=32",
                            "--model.heads=2", "--batch.global=32", "--batch.micro=8", "--run.device=cpu",
                            fmt::format("--train.max_steps={}", steps), "--run.directory=" + run_directory()});
  };
  const ProcessResult first = train_for(4);
  expect_trained(run_directory(), first);
  EXPECT_TRUE(contains(first.output, "train: 640 texts")) << first.output;
  EXPECT_TRUE(contains(first.output, "2 nodes, 2 ranks on each; ")) << first.output;
  const ProcessResult second = train_for(6);
  EXPECT_EQ(second.status, 0) << second.output;
  EXPECT_EQ(count(second.output, "train: 640 texts"), 1) << "imported once\n" << second.output;
  EXPECT_TRUE(contains(second.output, "resumed: ")) << second.output;
}

TEST_F(Jobs, TrainFromCopiesOnTheNodesOwnDisks) {
  const ProcessResult result = train({"--ntasks-per-node=1"}, "several_nodes.sh", {"--data.copy_to=/tmp"});
  expect_trained(run_directory(), result);
  EXPECT_TRUE(contains(result.output, "copied to /tmp in ")) << result.output;
  for (const std::string node : {"n1", "n2"})
    for (const auto& entry : std::filesystem::directory_iterator(node_disk(node)))
      EXPECT_FALSE(contains(entry.path().string(), "convoy-shards")) << entry.path();
}

TEST_F(Jobs, AreRequeuedAtTheirTimeLimitAndResumeUntilTheyAreCancelled) {
  // Slurm sends the signal up to a minute early: 15 to 75 s after the start.
  const std::string job = submit_endless({"--time=2", "--signal=B:USR1@45"});
  expect_training_at_start(1);
  expect_training_at_start(2);
  expect_cancelled_for_good(job);
}

TEST_F(Jobs, AreRequeuedWhereTheSignalComesBeforeTrainingHasBegun) {
  const std::string job = submit_endless({});
  EXPECT_TRUE(becomes_true([this] { return contains(log(), "Start 1 "); }));
  EXPECT_EQ(run("scancel", {"--batch", "--signal=USR1", job}).status, 0);
  EXPECT_TRUE(becomes_true([this] { return count(log(), "epoch: 10 steps") > 0 && contains(log(), "Start 2 "); }))
      << log();
  expect_cancelled_for_good(job);
}

TEST_F(Jobs, AreRequeuedWhenTheyArePreemptedAndResumeUntilTheyAreCancelled) {
  const std::string job = submit_endless({"--partition=main"});
  expect_training_at_start(1);
  preempt();
  expect_training_at_start(2);
  expect_cancelled_for_good(job);
}

TEST_F(Jobs, AreRequeuedBySlurmWhenTheyArePreemptedWithoutDelay) {
  const std::string job = submit_endless({"--partition=hasty"});
  expect_training_at_start(1);
  preempt();
  expect_training_at_start(2);
  EXPECT_EQ(run("scontrol", {"requeue", job}).status, 0);
  expect_training_at_start(3);
  expect_cancelled_for_good(job);
}

TEST_F(JobsWithoutPmix, TrainOnSeveralNodesAndAreRequeuedAtTheirTimeLimit) {
  const std::string job = submit_endless({"--time=2", "--signal=B:USR1@45"});
  expect_training_at_start(1);
  expect_training_at_start(2);
  EXPECT_TRUE(contains(log(), "2 nodes, 1 rank on each; ")) << log();
  EXPECT_EQ(run("scancel", {job}).status, 0);
  EXPECT_TRUE(becomes_true([&] { return is_in_state(job, "CANCELLED"); })) << log();
}

}  // namespace convoy::test
