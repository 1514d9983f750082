/// Runs end and are resumed: nothing is lost, and no damaged checkpoint is used.
#include "app/restart.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/core.h>

#include "convoy/io/atomic_file.h"

#include "app/runs.h"
#include "unit/io/same_bits.h"

namespace convoy::test {

TEST_F(Restart, AFinishedRunSaysSoAndChangesNothing) {
  ASSERT_EQ(train(4).status, 0);
  const std::string before = read_text(checkpoint(4));
  const ProcessResult again = train(4);
  EXPECT_EQ(again.status, 0) << again.output;
  EXPECT_TRUE(contains(again.output, "resumed: " + checkpoint(4))) << again.output;
  EXPECT_TRUE(contains(again.output, "done: step 4 of 4")) << again.output;
  EXPECT_TRUE(read_text(checkpoint(4)) == before);
}

TEST_F(Restart, ADamagedNewestCheckpointIsSkippedWithAReason) {
  const std::vector<std::string> often = {"--checkpoint.every_steps=2", "--checkpoint.best=false"};
  ASSERT_EQ(train(4, often).status, 0);
  const std::string whole = read_text(checkpoint(4));
  for (std::size_t position = 0; position < whole.size(); position += whole.size() / 5) {
    std::string damaged = whole;
    damaged[position] = static_cast<char>(damaged[position] ^ 0x10);
    write_text(checkpoint(4), damaged);
    const ProcessResult result = train(4, often);
    EXPECT_EQ(result.status, 0) << result.output;
    EXPECT_TRUE(contains(result.output, checkpoint(4) + " is skipped: ")) << result.output;
    EXPECT_TRUE(contains(result.output, "resumed: " + checkpoint(2))) << result.output;
    EXPECT_TRUE(read_text(checkpoint(4)) == whole) << "trained again from step 2, but to other bytes";
  }
  write_text(checkpoint(4), whole.substr(0, whole.size() / 2));
  EXPECT_TRUE(contains(train(4, often).output, "resumed: " + checkpoint(2)));
}

TEST_F(Restart, ACheckpointOfAnotherStepThanItsNameIsSkipped) {
  ASSERT_EQ(train(2, {"--checkpoint.keep=1"}).status, 0);
  std::filesystem::copy_file(checkpoint(2), checkpoint(99999999));
  const ProcessResult result = train(4, {"--checkpoint.keep=1"});
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_TRUE(contains(result.output, checkpoint(99999999) + " is skipped: it holds step 2, not the step in its name"))
      << result.output;
  const ProcessResult again = train(6, {"--checkpoint.keep=1"});
  EXPECT_TRUE(contains(again.output, "resumed: " + checkpoint(4))) << "not step 2 at each start: " << again.output;
  // If a path is given, the name does not matter.
  const ProcessResult given =
      train(3, {"--checkpoint.resume=" + checkpoint(99999999), "--run.directory=" + (directory_ / "new")});
  EXPECT_EQ(given.status, 0) << given.output;
  EXPECT_TRUE(contains(given.output, "resumed: " + checkpoint(99999999))) << given.output;
}

TEST_F(Restart, AHugeFileInTheNewestCheckpointsPlaceIsSkippedUnread) {
  ASSERT_EQ(train(2).status, 0);
  for (const std::string& path : {checkpoint(3), directory_ / "huge.safetensors"}) {
    write_text(path, "");
    std::filesystem::resize_file(path, std::uintmax_t{1} << 43);  // sparse: more than any memory
  }
  const ProcessResult result = train(4, {}, 2);
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_TRUE(contains(result.output, checkpoint(3) + " is skipped: it is truncated, or it is not a checkpoint"))
      << result.output;
  EXPECT_TRUE(contains(result.output, "resumed: " + checkpoint(2))) << result.output;
  for (const std::string& path : {checkpoint(3), directory_ / "huge.safetensors"}) {
    for (const std::string key : {"init.weights", "checkpoint.resume"}) {
      const ProcessResult refused =
          train(4, {fmt::format("--{}={}", key, path), "--run.directory=" + (directory_ / "new")});
      EXPECT_EQ(refused.status, 2) << refused.output;
      EXPECT_TRUE(
          contains(refused.output, fmt::format("{} = {}: it is truncated, or it is not a checkpoint", key, path)))
          << refused.output;
    }
    for (const std::string command : {"info", "check"}) {
      const ProcessResult described = run_program({.arguments = {command, path}});
      EXPECT_EQ(described.status, 1) << described.output;
      EXPECT_TRUE(contains(described.output, path)) << described.output;
    }
  }
}

TEST_F(Restart, ADamagedNamedCheckpointIsRefused) {
  ASSERT_EQ(train(2).status, 0);
  std::string bytes = read_text(checkpoint(2));
  bytes[bytes.size() / 3] = static_cast<char>(bytes[bytes.size() / 3] ^ 1);
  write_text(directory_ / "damaged.h5", bytes);
  const ProcessResult result =
      train(4, {"--checkpoint.resume=" + (directory_ / "damaged.h5"), "--run.directory=" + (directory_ / "new")}, 2);
  EXPECT_EQ(result.status, 2) << result.output;
  EXPECT_TRUE(contains(result.output, "checkpoint.resume = ")) << result.output;
  EXPECT_TRUE(contains(result.output, "damaged.h5")) << result.output;
}

TEST_F(Restart, ARunOfWhichOnlyTheBestIsLeftGoesOnFromIt) {
  ASSERT_EQ(train(2).status, 0);  // evaluates at its end: best.h5 is of step 2
  const std::string best = io::best_checkpoint_path(run_ + "/checkpoints");
  const std::string newest = read_text(checkpoint(2));
  std::filesystem::remove(checkpoint(2));
  const ProcessResult refused = train(4, {"--checkpoint.resume=none"});
  EXPECT_EQ(refused.status, 2) << refused.output;
  EXPECT_TRUE(contains(refused.output, best + " exists")) << refused.output;

  const ProcessResult again = train(2);
  EXPECT_EQ(again.status, 0) << again.output;
  EXPECT_TRUE(contains(again.output, "resumed: " + best)) << again.output;
  EXPECT_TRUE(read_text(checkpoint(2)) == newest) << "a checkpoint at the end, the same as before";

  write_text(checkpoint(2), "damaged");
  const ProcessResult more = train(4, {}, 2);
  EXPECT_EQ(more.status, 0) << more.output;
  EXPECT_TRUE(contains(more.output, checkpoint(2) + " is skipped: ")) << more.output;
  EXPECT_TRUE(contains(more.output, "resumed: " + best)) << more.output;
}

TEST_F(Restart, NothingIsBegunAnewOverDamagedCheckpoints) {
  ASSERT_EQ(train(2, {"--checkpoint.best=false"}).status, 0);
  write_text(checkpoint(2), "no checkpoint");
  const ProcessResult result = train(4, {}, 2);
  EXPECT_EQ(result.status, 1) << result.output;
  EXPECT_TRUE(contains(result.output, "the only checkpoint in " + run_ + "/checkpoints cannot be used"))
      << result.output;
}

TEST_F(Restart, ALossThatIsNoNumberEndsTheRunAndIsNeverSaved) {
  const ProcessResult result =
      train(30, {"--optimizer.lr=1000", "--lr.schedule=constant", "--checkpoint.every_steps=1"}, 2);
  EXPECT_EQ(result.status, 1) << result.output;
  EXPECT_TRUE(contains(result.output, " is bad: ")) << result.output;
  const auto found = io::find_newest_checkpoint(run_ + "/checkpoints", [](const auto&, const auto&) {});
  ASSERT_TRUE(found.has_value());
  for (const io::NamedTensor& tensor : io::decode_checkpoint(found->bytes, found->path).model)
    for (const float value : tensor.values) ASSERT_TRUE(std::isfinite(value)) << tensor.name;
}

TEST_F(Restart, AfterADivergenceTheCheckpointFromBeforeItIsThereAndProposed) {
  // Ten steps that learn, then a rate that explodes: checkpoints of all steps, but only two are kept.
  const std::vector<std::string> often = {"--lr.schedule=constant", "--checkpoint.every_steps=1", "--checkpoint.keep=2",
                                          "--checkpoint.best=false"};
  ASSERT_EQ(train(10, often).status, 0);
  const ProcessResult result = train(30, often + std::vector<std::string>{"--optimizer.lr=1000"}, 2);
  EXPECT_EQ(result.status, 1) << result.output;
  // Step 11's update explodes, which the loss of step 12 shows; step 10's weights gave a good loss in step 11.
  EXPECT_TRUE(contains(result.output,
                       "The last checkpoint from before the training went wrong is " + checkpoint(10) + " (step 10)"))
      << result.output;
  ASSERT_TRUE(std::filesystem::exists(checkpoint(10)));
  EXPECT_FALSE(std::filesystem::exists(checkpoint(9)));
  const ProcessResult resumed =
      train(14, often + std::vector<std::string>{"--checkpoint.resume=" + checkpoint(10),
                                                 "--run.directory=" + (directory_ / "new"), "--optimizer.lr=0.01"});
  EXPECT_EQ(resumed.status, 0) << "as the message says: " << resumed.output;
}

TEST_F(Restart, WeightsThatAreNoNumbersAreNotSavedAndTheWayOutIsThere) {
  ASSERT_EQ(train(1).status, 0);
  // The softmax does not see what all classes have in common; weight decay takes it to infinity.
  io::Checkpoint large = io::decode_checkpoint(io::read_file(checkpoint(1)), checkpoint(1));
  for (io::NamedTensor& tensor : large.model)
    if (tensor.name == "fc.bias") std::fill(tensor.values.begin(), tensor.values.end(), 1e36f);
  io::write_file_atomically(directory_ / "large.h5", io::encode_checkpoint(large));
  const std::vector<std::string> diverging = {
      "--optimizer.lr=1000", "--optimizer.weight_decay=1", "--lr.schedule=constant",
      "--checkpoint.resume=" + (directory_ / "large.h5"), "--run.directory=" + (directory_ / "new")};
  for (const char* const files : {"one", "sharded"}) {
    SCOPED_TRACE(files);
    const ProcessResult first =
        train(2, diverging + std::vector<std::string>{std::string("--checkpoint.files=") + files}, 2);
    EXPECT_EQ(first.status, 1) << first.output;
    EXPECT_TRUE(contains(first.output, "step 2 is not saved: 'fc.bias' holds")) << first.output;
    EXPECT_TRUE(contains(first.output, "To begin at step 0, use a smaller optimizer.lr")) << first.output;
  }
  const std::string whole = io::checkpoint_path((directory_ / "new") + "/checkpoints", 1);
  io::write_file_atomically(whole, io::encode_checkpoint(large));
  const ProcessResult second = train(2, diverging + std::vector<std::string>{"--checkpoint.resume=auto"});
  EXPECT_EQ(second.status, 1) << second.output;
  EXPECT_TRUE(contains(second.output, "The last checkpoint from before the training went wrong is " + whole +
                                          " (step 1). Resume from it with"))
      << second.output;
}

TEST_F(Restart, ChangedParametersAreSaid) {
  ASSERT_EQ(train(2).status, 0);
  const ProcessResult result = train(4, {"--optimizer.lr=0.04"});
  EXPECT_EQ(result.status, 0);
  EXPECT_TRUE(contains(result.output, "optimizer.lr 0.05 -> 0.04")) << result.output;
}

TEST_F(Restart, AChangeOfTheEpochsThatMovesTheLearningRateIsSaid) {
  const std::vector<std::string> cosine = {"--lr.schedule=cosine"};
  ASSERT_EQ(train(10, cosine).status, 0);  // of 30, 10 per epoch
  const ProcessResult longer = train(11, cosine + std::vector<std::string>{"--train.epochs=4"});
  EXPECT_EQ(longer.status, 0) << longer.output;
  // 0.05 (1 + cos(pi / 3)) / 2, and with pi / 4
  EXPECT_TRUE(contains(longer.output, "train.epochs 3 -> 4; learning rate of step 11: 0.0375 -> 0.0426777"))
      << longer.output;
  const ProcessResult further = train(12, cosine + std::vector<std::string>{"--train.epochs=4"});
  EXPECT_FALSE(contains(further.output, "changed since")) << "train.max_steps moves nothing: " << further.output;
  const std::vector<std::string> constant = {"--lr.schedule=constant"};
  ASSERT_EQ(train(13, constant).status, 0);
  const ProcessResult level = train(14, constant + std::vector<std::string>{"--train.epochs=4"});
  EXPECT_FALSE(contains(level.output, "changed since")) << level.output;
}

TEST_F(Restart, AnotherNumberOfThreadsChangesNoBit) {
  ASSERT_EQ(train(4).status, 0);
  const io::Checkpoint undisturbed = read_checkpoint(checkpoint(4));
  std::filesystem::remove_all(run_);
  ASSERT_EQ(train(2).status, 0);
  const ProcessResult two = train(4, {"--run.threads=2"});
  EXPECT_EQ(two.status, 0) << two.output;
  const io::Checkpoint resumed = read_checkpoint(checkpoint(4));
  expect_same_bits(resumed.model, undisturbed.model);
  for (const auto& [state, tensors] : undisturbed.optimizer) expect_same_bits(resumed.optimizer.at(state), tensors);
}

TEST_F(Restart, KeepsTheNewestCheckpointsOnly) {
  ASSERT_EQ(train(6, {"--checkpoint.every_steps=1", "--checkpoint.keep=3"}).status, 0);
  for (int step = 1; step <= 6; ++step) EXPECT_EQ(std::filesystem::exists(checkpoint(step)), step > 3) << step;
}

TEST_F(Restart, ADamagedCheckpointTakesNoPlaceOfAWholeOne) {
  ASSERT_EQ(train(4, {"--checkpoint.every_steps=2", "--checkpoint.keep=2", "--checkpoint.best=false"}).status, 0);
  write_text(checkpoint(4), "damaged");
  const ProcessResult result = train(3, {"--checkpoint.keep=2"});
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_TRUE(contains(result.output, "resumed: " + checkpoint(2))) << result.output;
  for (int step = 2; step <= 4; ++step) EXPECT_TRUE(std::filesystem::exists(checkpoint(step))) << step;
}

TEST_F(Restart, ANamedCheckpointIsWhereARunBeginsAndTheSameCommandGoesOn) {
  ASSERT_EQ(train(4).status, 0);
  const std::string second = directory_ / "second";
  const std::vector<std::string> branch = {"--checkpoint.resume=" + checkpoint(4), "--run.directory=" + second};
  const ProcessResult at_its_end = train(4, branch, 2);
  EXPECT_EQ(at_its_end.status, 0) << at_its_end.output;
  EXPECT_TRUE(contains(at_its_end.output, "resumed: " + checkpoint(4))) << at_its_end.output;
  EXPECT_TRUE(std::filesystem::exists(second + "/checkpoints/step-00000004.h5")) << "one is always written";
  ASSERT_EQ(train(6, branch).status, 0);
  const ProcessResult again = train(8, branch);
  EXPECT_EQ(again.status, 0) << again.output;
  EXPECT_TRUE(contains(again.output, "resumed: " + second + "/checkpoints/step-00000006.h5")) << again.output;
  // Another file, although this run has continued on its own: refused.
  ASSERT_EQ(train(5).status, 0);
  const ProcessResult mixed = train(9, {"--checkpoint.resume=" + checkpoint(5), "--run.directory=" + second});
  EXPECT_EQ(mixed.status, 2) << mixed.output;
  EXPECT_TRUE(contains(mixed.output, "whose run did not begin from that file")) << mixed.output;
}

TEST_F(Restart, ARunThatEndsWithinAnEpochIsEvaluatedAndGoesOn) {
  ASSERT_EQ(train(7).status, 0);  // 10 steps per epoch
  const std::string partial = read_text(run_ + "/log.csv");
  EXPECT_TRUE(contains(partial, "\n1,7,448,")) << partial;
  ASSERT_EQ(train(7).status, 0);
  EXPECT_EQ(read_text(run_ + "/log.csv"), partial) << "nothing was left to do";
  ASSERT_EQ(train(10).status, 0);
  const std::string whole = read_text(run_ + "/log.csv");
  EXPECT_TRUE(contains(whole, "\n1,10,640,")) << whole;
  EXPECT_FALSE(contains(whole, "\n1,7,")) << whole;
}

TEST_F(Restart, ARunThatWasStoppedWhileItWasEvaluatedGetsItsRowOnceAndACheckpointThatKnowsIt) {
  ASSERT_EQ(train(10).status, 0);  // an epoch
  const std::string whole = read_text(checkpoint(10));
  // Stopped before the test set was done, the same run would have left this.
  io::Checkpoint stopped = io::decode_checkpoint(io::read_file(checkpoint(10)), checkpoint(10));
  stopped.state.evaluated_step = stopped.state.best_step = 0;
  stopped.state.best_value = 0;
  io::write_file_atomically(checkpoint(10), io::encode_checkpoint(stopped));
  const ProcessResult result = train(10);
  EXPECT_EQ(result.status, 0) << result.output;
  const std::string rows = read_text(run_ + "/log.csv");
  EXPECT_EQ(rows.find("\n1,10,640,"), rows.rfind("\n1,10,640,")) << rows;
  EXPECT_TRUE(read_text(checkpoint(10)) == whole);
  EXPECT_TRUE(contains(train(10).output, "nothing to do: step 10 of 10 is done"));
}

TEST_F(Restart, AnotherBatchOrSeedIsRefused) {
  ASSERT_EQ(train(2).status, 0);
  const ProcessResult micro = train(4, {"--batch.micro=16"});
  EXPECT_EQ(micro.status, 2);
  EXPECT_TRUE(contains(micro.output, "batch.micro = 16")) << micro.output;
  const ProcessResult batch = train(4, {"--batch.global=32"});
  EXPECT_EQ(batch.status, 2);
  EXPECT_TRUE(contains(batch.output, "batch.global = 32")) << batch.output;
  const ProcessResult seed = train(4, {"--train.seed=9"});
  EXPECT_EQ(seed.status, 2);
  EXPECT_TRUE(contains(seed.output, "train.seed = 9")) << seed.output;
}

TEST_F(Restart, NoneRefusesToMixRuns) {
  ASSERT_EQ(train(2).status, 0);
  const ProcessResult result = train(4, {"--checkpoint.resume=none"});
  EXPECT_EQ(result.status, 2) << result.output;
  EXPECT_TRUE(contains(result.output, "checkpoint.resume = none")) << result.output;
}

TEST_F(Restart, WeightsOfAnotherModelAreRefusedByName) {
  ASSERT_EQ(train(2).status, 0);
  const ProcessResult result = train(
      2, {"--model.name=resnet32", "--init.weights=" + checkpoint(2), "--run.directory=" + (directory_ / "other")}, 2);
  EXPECT_EQ(result.status, 2) << result.output;
  EXPECT_TRUE(contains(result.output, "layer1.3.conv1.weight")) << result.output;
}

}  // namespace convoy::test
