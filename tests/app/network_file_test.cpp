/// Training with a network's file: the same bits on every grid, no file after the training, and no other network in its
/// place.
#include <filesystem>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "app/runs.h"
#include "unit/io/temporary_directory.h"
#include "unit/messages.h"

namespace convoy::test {

namespace {

const std::string kFile = R"(-- A small network for images
network{about = "for images"}
local width = parameter("width", 8, "filters of the first block", {min = 1, max = 64})
local x = cell("stem", function() return conv("conv", feature("image"), {width, kernel = 3}) end)
for i = 1, 3 do
  x = cell("block" .. i, function(x)
    return relu(batch_norm("bn", conv("conv", x, {width << i, kernel = 3, stride = 2})))
  end, x)
end
return cell("head", function(x) return logits("fc", global_average_pool(x), num_classes) end, x)
)";

class NetworkFileRun : public Runs {
 protected:
  NetworkFileRun() {
    write_text(file_, kFile);
    std::erase(arguments_, "--model.name=resnet20");
    arguments_.push_back("--model.file=" + file_);
  }

  // The training is resumed with a part of the file replaced.
  ProcessResult resume_with(const std::string& old_text, const std::string& new_text) {
    std::string text = kFile;
    text.replace(text.find(old_text), old_text.size(), new_text);
    write_text(file_, text);
    std::vector<std::string> arguments = arguments_;
    arguments.insert(arguments.end(), {"--run.directory=" + (directory_ / "run"), "--train.max_steps=4"});
    return run_program({.arguments = arguments});
  }

  std::string file_ = directory_ / "my.lua";
};

TEST_F(NetworkFileRun, HasTheSameBitsOnEveryGridAndIsEvaluatedWithoutTheFile) {
  train("one", {1, 1}, 4);
  EXPECT_CONTAINS(output_, "my: ");
  train("four", {2, 2}, 4);
  expect_same_run("one", "four", 4);
  std::filesystem::remove(file_);
  const ProcessResult evaluation = run_program({.arguments = {"evaluate", "--run.directory=" + (directory_ / "four"),
                                                              "--model.set=width=4", "--model.file=" + file_}});
  EXPECT_EQ(evaluation.status, 0) << evaluation.output;
  EXPECT_CONTAINS(evaluation.output, "96 samples");
  EXPECT_CONTAINS(evaluation.output, "--model.file, --model.set have no effect: '" + (directory_ / "four"));
}

TEST_F(NetworkFileRun, ParametersOfTheFileAreSetByModelSet) {
  arguments_.push_back("--model.set=width=4");
  train("narrow", {1, 1}, 1);
  for (const io::NamedTensor& tensor : checkpoint("narrow", 1).model) {
    if (tensor.name != "stem.conv.weight") continue;
    EXPECT_EQ(tensor.dims.front(), 4);
  }
  arguments_.back() = "--model.set=wdith=4";
  const ProcessResult refused = run_program({.arguments = arguments_});
  EXPECT_EQ(refused.status, 2);
  EXPECT_CONTAINS(refused.output, "has no parameter 'wdith', so that it cannot be 4. Nearest: width");
}

TEST_F(NetworkFileRun, ACheckpointIsDescribedWithTheCellsOfItsNetwork) {
  train("run", {1, 1}, 1);
  std::filesystem::remove(file_);
  const std::string run = directory_ / "run", picture = directory_ / "run.svg";
  const ProcessResult info =
      run_program({.arguments = {"info", run + "/checkpoints/step-00000001.h5", "--info.draw=" + picture}});
  EXPECT_EQ(info.status, 0) << info.output;
  EXPECT_CONTAINS(info.output, "checkpoint\n  model         my, of 12x12x1 images");
  EXPECT_CONTAINS(info.output, "\nmy: 5 cells\n");
  EXPECT_CONTAINS(info.output, "   3  block3      2x2x64      18.6 k       147.5 k            2.9 KiB\n");
  EXPECT_CONTAINS(read_text(picture), ">block1, block2, block3<");
}

TEST_F(NetworkFileRun, AnotherNetworkDoesNotResumeAndAnotherCommentDoes) {
  train("run", {1, 1}, 2);
  const ProcessResult stride = resume_with("stride = 2", "stride = 1");
  EXPECT_EQ(stride.status, 2);
  EXPECT_CONTAINS(stride.output, "another network. Now cell 1 (block1): conv 'conv': stride is 1, not 2");
  EXPECT_CONTAINS(resume_with("return relu(", "return gelu(").output, "cell 1 (block1): gelu, not relu");
  EXPECT_CONTAINS(resume_with("\"block\"", "\"part\"").output, "it is 'part1', not 'block1'");
  const ProcessResult comment = resume_with("-- A small network", "-- Another comment");
  EXPECT_EQ(comment.status, 0) << comment.output;
}

TEST_F(NetworkFileRun, WhatIsNoFileOfANetworkIsRefusedAtOnce) {
  const std::string pipe = directory_ / "pipe", huge = directory_ / "huge.lua";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  write_text(huge, "");
  std::filesystem::resize_file(huge, std::uintmax_t{1} << 40);  // sparse
  for (const auto& [path, says] : {std::pair<std::string, std::string>{directory_ / "absent.lua", "No such file"},
                                   {directory_ / "small", "is not a file but a directory"},
                                   {pipe, "is not a file but a named pipe"},
                                   {"/dev/zero", "is not a file but a device"},
                                   {huge, "is larger than 1.0 MiB"}}) {
    arguments_.back() = "--model.file=" + path;
    const ProcessResult refused = run_program({.arguments = arguments_, .ranks = 2});
    EXPECT_EQ(refused.status, 2) << refused.output;
    EXPECT_CONTAINS(refused.output, "model.file = " + path);
    EXPECT_CONTAINS(refused.output, says);
  }
}

TEST_F(NetworkFileRun, AMistakeIsToldOnceWithItsLineAndStatusTwo) {
  train("run", {1, 1}, 1);
  std::string text = kFile;
  text.replace(text.find("batch_norm("), 11, "batchnorm(");
  write_text(file_, text);
  const ProcessResult refused = run_program({.arguments = arguments_, .ranks = 2});
  EXPECT_EQ(refused.status, 2);
  const std::string message = file_ + ":7: there is no function or variable 'batchnorm'. Nearest: batch_norm";
  EXPECT_CONTAINS(refused.output, message);
  EXPECT_EQ(refused.output.find(message), refused.output.rfind(message)) << "told once";
}

}  // namespace

}  // namespace convoy::test
