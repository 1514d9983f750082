/// Layouts that Convoy chooses, compares, or is told: none of them changes a bit.
#include <cstdint>
#include <cstdlib>
#include <filesystem>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "app/runs.h"
#include "app/small_data.h"

namespace convoy::test {

namespace {

class Planning : public Runs {
 protected:
  Planning() { arguments_.pop_back(); }  // costs are measured

  ProcessResult plan(const std::vector<std::string>& more) {
    std::vector<std::string> arguments = arguments_;
    arguments.front() = "plan";
    return run_program(
        {.arguments = arguments + std::vector<std::string>{"--run.directory=" + (directory_ / "plan")} + more});
  }
};

}  // namespace

TEST_F(Planning, CutsByHandGiveTheBitsOfThoseThatAreMeasured) {
  train("measured", {3, 1}, 12);
  EXPECT_TRUE(contains(output_, "step: predicted ")) << output_;
  EXPECT_TRUE(std::filesystem::exists(directory_ / "measured/costs.txt"));
  features_ = {"--grid.cuts=1, 2"};
  train("by hand", {3, 1}, 5);
  EXPECT_TRUE(contains(output_, "layer1.1 .. head")) << output_;
  features_ = {"--grid.cuts=9,10"};
  train("by hand", {3, 1}, 12);
  expect_same_run("measured", "by hand");
}

TEST_F(Planning, StagesThatAreChosenGiveTheSameBits) {
  train("1x1", {1, 1}, 6);
  const ProcessResult result =
      run_program({.arguments = arguments_ + std::vector<std::string>{"--grid.stages=auto", "--train.max_steps=6",
                                                                      "--run.bucket_mib=0.05",
                                                                      "--run.directory=" + (directory_ / "auto")},
                   .ranks = 4});
  ASSERT_EQ(result.status, 0) << result.output;
  EXPECT_TRUE(contains(result.output, "grid.stages = auto: chosen layout (stages x replicas, predicted step): "))
      << result.output;
  expect_same_run("1x1", "auto", 6);
  // The choice is not fixed: the run's own parameters choose again, and an evaluation does not use stages.
  const ProcessResult evaluation = run_program({.arguments = {"evaluate", directory_ / "auto/params.cfg"}});
  EXPECT_EQ(evaluation.status, 0) << evaluation.output;
}

TEST_F(Planning, ATrainingThatMeasuresNothingChoosesByAModelAndGivesTheSameBits) {
  train("1x1", {1, 1}, 6);
  const std::string run = "--run.directory=" + (directory_ / "modelled");
  const std::vector<std::string> modelled = {"--plan.measure=false", "--grid.stages=auto", "--train.max_steps=6",
                                             "--run.bucket_mib=0.05", run};
  const ProcessResult result = run_program({.arguments = arguments_ + modelled, .ranks = 4});
  ASSERT_EQ(result.status, 0) << result.output;
  EXPECT_TRUE(contains(result.output, "predicted step by a model, because plan.measure = false): ")) << result.output;
  EXPECT_FALSE(contains(result.output, "measuring")) << result.output;
  EXPECT_FALSE(contains(result.output, "warning")) << result.output;
  EXPECT_FALSE(std::filesystem::exists(directory_ / "modelled/costs.txt"));
  expect_same_run("1x1", "modelled", 6);
}

TEST_F(Planning, StagesThatCannotBeChosenAreRefused) {
  const ProcessResult result = run_program(
      {.arguments = arguments_ + std::vector<std::string>{"--grid.stages=auto", "--memory.limit_gib=0.0001"},
       .ranks = 2});
  EXPECT_EQ(result.status, 2) << result.output;
  EXPECT_TRUE(contains(
      result.output, "grid.stages = auto: none of the 4 layouts of 2 ranks can train (refused: 4 by memory.limit_gib)"))
      << result.output;
}

TEST_F(Planning, CutsThatAreNoneAreRefused) {
  const ProcessResult result = run_program(
      {.arguments = arguments_ + std::vector<std::string>{"--grid.stages=2", "--grid.cuts=11"}, .ranks = 2});
  EXPECT_EQ(result.status, 2) << result.output;
  EXPECT_TRUE(contains(result.output,
                       "grid.cuts = 11: no stage can begin with cell 11. Allowed: 1 to 10, of the cells 0 stem, "))
      << result.output;
}

TEST_F(Planning, ComparesLayoutsOfRanksThatAreNotThere) {
  const ProcessResult first = plan({"--plan.ranks=8,64", "--plan.micro=4,8"});
  ASSERT_EQ(first.status, 0) << first.output;
  EXPECT_TRUE(contains(first.output, "layouts: cells measured; ")) << first.output;
  EXPECT_TRUE(contains(first.output, "\n8 ranks: ")) << first.output;
  EXPECT_TRUE(contains(first.output, "\n64 ranks: ")) << first.output;
  EXPECT_TRUE(contains(first.output, "\n  * ")) << first.output;
  // Measured costs are used again; the estimate for the network is not.
  const std::string costs = read_text(directory_ / "plan/costs.txt");
  const ProcessResult again = plan({"--plan.ranks=8", "--plan.latency_us=50", "--plan.bandwidth_gb_s=3"});
  EXPECT_TRUE(contains(again.output, "; messages 50 us + 3 GB/s; ")) << again.output;
  EXPECT_EQ(read_text(directory_ / "plan/costs.txt"), costs);
  const ProcessResult modelled = plan({"--plan.ranks=8", "--plan.measure=false"});
  EXPECT_TRUE(contains(modelled.output, "layouts: cells from a model; ")) << modelled.output;
}

// The layout that is asked for need not be among those that are compared.
TEST_F(Planning, SaysWhatOfAPlanCannotBe) {
  const ProcessResult result = plan({"--plan.ranks=12", "--grid.stages=5", "--plan.measure=false"});
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_TRUE(contains(result.output,
                       "the layout of the parameters is not possible: grid.stages = 5 does not divide the 12 ranks"))
      << result.output;
  EXPECT_TRUE(contains(result.output, "12 ranks: ")) << result.output;
  EXPECT_TRUE(contains(result.output, " (batch.micro)")) << result.output;
  const ProcessResult wrong = plan({"--plan.ranks=8", "--plan.micro=5", "--plan.measure=false"});
  EXPECT_EQ(wrong.status, 2) << wrong.output;
  EXPECT_TRUE(contains(wrong.output, "plan.micro = 5 does not divide batch.global = 64.")) << wrong.output;
}

// Returns the number after `words` in a text.
std::int64_t number_after(const std::string& text, const std::string& words) {
  const std::size_t found = text.find(words);
  return found == std::string::npos ? -1 : std::stoll(text.substr(found + words.size()));
}

TEST_F(Planning, TheLargestMicroBatchFitsALimitPerRankAndOneMoreSampleDoesNot) {
  const std::string limit = "--memory.limit_gib=0.02", stages = "--grid.stages=2";
  const ProcessResult found = plan({"--plan.micro=max", limit, stages});
  ASSERT_EQ(found.status, 0) << found.output;
  const std::int64_t micro = number_after(found.output, "plan.micro = max: batch.micro = ");
  EXPECT_GT(micro, 1) << found.output;
  const auto plan_with = [&](std::int64_t samples) {
    const std::int64_t micro_batches = number_after(found.output, "and batch.global = ") / micro;
    return plan({limit, stages, fmt::format("--batch.micro={}", samples),
                 fmt::format("--batch.global={}", micro_batches * samples)});
  };
  EXPECT_EQ(plan_with(micro).status, 0);
  const ProcessResult more = plan_with(micro + 1);
  EXPECT_EQ(more.status, 2) << more.output;
  EXPECT_TRUE(contains(more.output, "memory.limit_gib = 0.02")) << more.output;
}

// A sample of ResNet-50 needs far more memory than the program itself.
TEST_F(Planning, TheLargestMicroBatchFitsWhatSlurmGivesAllRanksOfANode) {
  const auto largest = [&](int ranks) {
    setenv("SLURM_MEM_PER_NODE", "3000", 1);  // MiB
    const ProcessResult result =
        run_program({.arguments = {"plan", "resnet50", "--plan.samples=1000", "--plan.classes=10", "--batch.global=8",
                                   "--batch.micro=4", "--run.device=cpu", "--run.threads=1", "--plan.micro=max"},
                     .ranks = ranks});
    unsetenv("SLURM_MEM_PER_NODE");
    EXPECT_EQ(result.status, 0) << result.output;
    EXPECT_TRUE(contains(result.output, "of 2.9 GiB (--mem of the Slurm job)")) << result.output;
    return number_after(result.output, "plan.micro = max: batch.micro = ");
  };
  const std::int64_t of_one = largest(1), of_two = largest(2);
  EXPECT_GT(of_one, 2 * of_two) << "two ranks share the memory";
  EXPECT_GT(of_two, 1);
}

TEST_F(Planning, NoMicroBatchFitsALimitThatIsTooSmall) {
  const ProcessResult none = plan({"--plan.micro=max", "--memory.limit_gib=0.0001"});
  EXPECT_EQ(none.status, 2);
  EXPECT_TRUE(contains(none.output, "no micro-batch fits the memory. With 8 samples: memory.limit_gib = 0.0001: "))
      << none.output;
}

TEST_F(Planning, OfADescribedClusterSaysWhatLimitsEachLayoutAndDrawsIt) {
  const std::string picture = directory_ / "efficiency.svg";
  const std::vector<std::string> cluster = {"--plan.measure=false",
                                            "--plan.ranks=8,64",
                                            "--plan.samples_per_rank=16",
                                            "--plan.tflop_s=100",
                                            "--plan.memory_gb_s=2000",
                                            "--plan.ranks_per_node=8",
                                            "--plan.latency_us=2,10",
                                            "--plan.bandwidth_gb_s=300,1",
                                            "--plan.node_gb_s=5",
                                            "--plan.spread_percent=2",
                                            "--plan.draw_efficiency=" + picture};
  const ProcessResult result = plan(cluster);
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_TRUE(contains(result.output,
                       "messages 2 us + 300 GB/s on a node, 10 us + 1 GB/s between nodes, 5 GB/s from a node in all; "
                       "memory 2000 GB/s per rank"))
      << result.output;
  EXPECT_TRUE(contains(result.output, "step: 128 samples = ")) << result.output;
  EXPECT_TRUE(contains(result.output, "% of 8 times the speed of one rank alone\n")) << result.output;
  EXPECT_TRUE(contains(result.output, "stragglers  memory per rank  limited by\n")) << result.output;
  EXPECT_TRUE(contains(result.output, "  exchange\n")) << "between nodes\n" << result.output;
  EXPECT_TRUE(contains(read_text(picture), ">64</text>")) << read_text(picture);
  EXPECT_TRUE(contains(
      plan({"--plan.ranks=8", "--plan.tflop_s=1"}).output,
      "plan.tflop_s = 1 describes a machine that is not measured, but plan.measure = true measures this one."));
  EXPECT_TRUE(contains(plan({"--plan.draw_efficiency=" + picture}).output,
                       "plan.draw_efficiency is a picture of the numbers in plan.ranks, and there are none."));
  EXPECT_TRUE(contains(plan({"--plan.latency_us=1,2,3"}).output,
                       "plan.latency_us has 3 numbers. Allowed: one, or two (on a node, between nodes)."));
}

}  // namespace convoy::test
