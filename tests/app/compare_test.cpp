/// Runs are compared to the first step and tensor that differ, and computed again on other grids.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "convoy/io/atomic_file.h"
#include "convoy/io/checkpoint.h"

#include "app/program.h"
#include "app/runs.h"
#include "app/small_data.h"
#include "unit/messages.h"

namespace convoy::test {

class Compare : public Runs {
 protected:
  Compare() { features_ = {"--checkpoint.every_steps=4", "--checkpoint.keep=0"}; }

  std::string run(const std::string& name) const { return directory_ / name; }
  std::string file(const std::string& name, std::int64_t step) const {
    return io::checkpoint_path(run(name) + "/checkpoints", step);
  }
  static ProcessResult compare(const std::string& a, const std::string& b) {
    return run_program({.arguments = {"compare", a, b}});
  }
  ProcessResult replay(const std::string& name, const Grid& grid, const std::string& steps,
                       const std::vector<std::string>& more = {}) const {
    return run_program(
        {.arguments = std::vector<std::string>{"replay", run(name) + "/params.cfg", "--replay.steps=" + steps,
                                               "--grid.stages=" + std::to_string(grid.stages)} +
                      more,
         .ranks = grid.stages * grid.replicas});
  }
  /// Flips one bit of one weight, in a valid checkpoint.
  void flip_a_bit(const std::string& path, const std::string& tensor_name) const {
    io::Checkpoint checkpoint = read_checkpoint(path);
    const auto tensor = std::find_if(checkpoint.model.begin(), checkpoint.model.end(),
                                     [&](const io::NamedTensor& t) { return t.name == tensor_name; });
    ASSERT_NE(tensor, checkpoint.model.end());
    float& value = tensor->values[tensor->values.size() / 2];
    value = std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) ^ 0x400000U);
    io::write_file_atomically(path, io::encode_checkpoint(checkpoint));
  }
};

TEST_F(Compare, RunsOnTwoGridsAreEqualAndFingerprintsAreThoseOfTheCheckpoints) {
  train("alone", {1, 1}, 12);
  train("grid", {2, 2}, 12);
  const ProcessResult result = compare(run("alone"), run("grid"));
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_CONTAINS(result.output, "losses: equal in all 12 steps that both runs have");
  EXPECT_CONTAINS(result.output, "top-1: equal in all 12 steps that both runs have");
  EXPECT_CONTAINS(result.output, "fingerprints: equal in all 4 steps that both runs have");
  EXPECT_CONTAINS(result.output, "test macro F1: equal in all 2 evaluations that both runs have");
  EXPECT_CONTAINS(result.output, "best: test top-1 ");
  EXPECT_CONTAINS(result.output, "1 x 1 (replicas x stages)");
  EXPECT_CONTAINS(result.output, "2 x 2 (replicas x stages)");
  // The fingerprint that ranks sum up slice by slice equals that of the file.
  const std::string rows = read_text(run("grid") + "/steps.csv"), row = rows.substr(rows.find("\n12,"));
  const std::string fingerprint = row.substr(row.find(",,") - 16, 16);  // before the empty field `skipped`
  const ProcessResult info = run_program({.arguments = {"info", file("alone", 12)}});
  EXPECT_CONTAINS(info.output, fingerprint);
}

TEST_F(Compare, NamesTheFirstStepAndTensorThatDiffer) {
  train("a", {1, 1}, 4);
  std::filesystem::copy(run("a"), run("b"), std::filesystem::copy_options::recursive);
  flip_a_bit(file("b", 4), "layer2.0.conv1.weight");
  const ProcessResult files = compare(file("a", 4), file("b", 4));
  EXPECT_EQ(files.status, 1) << files.output;
  EXPECT_CONTAINS(files.output, "model: 1 of ");
  EXPECT_CONTAINS(files.output, "layer2.0.conv1.weight: 1 of 4608 values differ, by up to ");
  EXPECT_CONTAINS(files.output, "at [16, 0, 0, 0]");
  EXPECT_CONTAINS(files.output, "optimizer momentum: equal");
  train("a", {1, 1}, 8);
  train("b", {1, 1}, 8);
  const ProcessResult runs = compare(run("a"), run("b"));
  EXPECT_EQ(runs.status, 1) << runs.output;
  EXPECT_CONTAINS(runs.output, "losses: first difference at step 5: ");
  EXPECT_CONTAINS(runs.output, "they are equal up to step 4");
  EXPECT_CONTAINS(runs.output, "fingerprints: first difference at step 6: ");
  EXPECT_CONTAINS(runs.output, "; started 2 times, last");
}

TEST_F(Compare, RefusesWhatHasNothingInCommon) {
  EXPECT_EQ(compare("nothing", "neither").status, 1);
  EXPECT_EQ(run_program({.arguments = {"compare", "one"}}).status, 2);
  std::filesystem::create_directories(run("empty") + "/checkpoints");
  train("a", {1, 1}, 2);
  const ProcessResult result = compare(run("a"), run("empty"));
  EXPECT_EQ(result.status, 2);
  EXPECT_CONTAINS(result.output, "have no step in common");
}

// Replays a run of three grids, one after the other, on a fourth.
TEST_F(Compare, ReplaysARunOfThreeGridsOnAFourth) {
  train("run", {1, 1}, 4);
  train("run", {2, 1}, 8);
  train("run", {1, 2}, 12);
  const std::string before = read_text(run("run") + "/steps.csv");
  const ProcessResult all = replay("run", {2, 2}, "1-12");
  EXPECT_EQ(all.status, 0) << all.output;
  EXPECT_CONTAINS(all.output, "losses: all 12 are equal to the recorded ones, bit by bit");
  EXPECT_CONTAINS(all.output, "top-1: all 12 are equal to the recorded ones, bit by bit");
  EXPECT_CONTAINS(all.output, "fingerprints: all 4 are equal to the recorded ones, bit by bit");
  EXPECT_CONTAINS(all.output, "from its start");
  const ProcessResult some = replay("run", {1, 1}, "10-11");
  EXPECT_EQ(some.status, 0) << some.output;
  EXPECT_CONTAINS(some.output, "losses: all 2 are");
  EXPECT_CONTAINS(some.output, "fingerprints: none is recorded for these steps");
  EXPECT_CONTAINS(some.output, "from " + file("run", 8));
  EXPECT_EQ(read_text(run("run") + "/steps.csv"), before) << "a replay writes nothing";
  EXPECT_EQ(replay("run", {1, 1}, "10-13").status, 2);
}

TEST_F(Compare, AReplayFromAChangedCheckpointNamesTheFirstStep) {
  train("run", {1, 1}, 8);
  flip_a_bit(file("run", 4), "conv1.weight");
  const ProcessResult result = replay("run", {1, 2}, "5-8");
  EXPECT_EQ(result.status, 1) << result.output;
  EXPECT_CONTAINS(result.output, "losses: 4 of 4 differ; the first difference is at step 5: recorded ");
  EXPECT_CONTAINS(result.output, "fingerprints: 1 of 1 differ; the first difference is at step 6: recorded ");
}

}  // namespace convoy::test
