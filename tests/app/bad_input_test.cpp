/// Any fault of a request ends the program with status 2 before any work, and with one message that names the key.
#include <cstdlib>
#include <filesystem>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "app/program.h"
#include "app/small_data.h"

namespace convoy::test {

namespace {

class BadInput : public testing::Test {
 protected:
  BadInput() : arguments_(import_small_data(directory_ / "small")) {}

  // Later keys override earlier ones.
  void expect_refused(const std::vector<std::string>& more, const std::string& says, int ranks = 0) {
    const ProcessResult result = run_program(
        {.arguments = arguments_ + std::vector<std::string>{"--run.directory=" + (directory_ / "run")} + more,
         .ranks = ranks,
         .timeout_seconds = 60});
    EXPECT_EQ(result.status, 2) << result.output;
    EXPECT_NE(result.output.find(says), std::string::npos) << "wanted: " << says << "\ngot: " << result.output;
    const std::size_t first = result.output.find("convoy: ");
    EXPECT_NE(first, std::string::npos) << result.output;
    EXPECT_EQ(result.output.find("convoy: ", first + 1), std::string::npos) << "said more than once\n" << result.output;
    EXPECT_FALSE(std::filesystem::exists(directory_ / "run")) << "work was begun";
  }

  WorkingDirectory directory_;
  std::vector<std::string> arguments_;
};

}  // namespace

TEST_F(BadInput, ParametersAreRefusedByNameWithTheNearestKey) {
  expect_refused({"--optimizer.lrr=1"}, "Nearest: optimizer.lr");
  expect_refused({"--grid.stage=1"}, "Nearest: grid.stages");
  expect_refused({"--optimizer.lr=fast"}, "optimizer.lr = fast");
  expect_refused({"--optimizer.lr=-1"}, "optimizer.lr = -1");
  expect_refused({"--optimizer.momentum=1.5"}, "optimizer.momentum = 1.5");
  expect_refused({"--schedule.kind=1f2b"}, "Nearest: 1f1b");
  expect_refused({"--memory.recompute=cells"}, "Nearest: cell");
  expect_refused({"--memory.limit_gib=0.001"}, "memory.limit_gib = 0.001: cells stem .. head take", 1);
  expect_refused({"--model.name=resnet19"}, "model.name = resnet19 is not known. Known: resnet18, ");
  expect_refused({"--train.label_smoothing=nan"}, "train.label_smoothing = nan");
  expect_refused({"--run.device=tpu"}, "run.device = tpu");
  expect_refused({"--run.device=gpu"}, "Nearest: cuda.");
  expect_refused({"--grid.stages=2", "--grid.cuts=99"}, "grid.cuts = 99: no stage can begin with cell 99. ", 2);
  expect_refused({"--run.directory=" + (directory_ / "small/idx/train-images-idx3-ubyte")}, "run.directory = ", 2);
}

TEST_F(BadInput, AGpuThatIsNotThereIsRefusedAndSoIsAPrecisionThatTheCpuLacks) {
  setenv("CUDA_VISIBLE_DEVICES", "", 1);  // hides the machine's GPUs
  expect_refused({"--run.device=cuda"}, "run.device = cuda", 2);
  for (const std::string precision : {"tf32", "fp16"})
    expect_refused({"--train.precision=" + precision}, "train.precision = " + precision + " needs a GPU", 2);
  unsetenv("CUDA_VISIBLE_DEVICES");
}

TEST_F(BadInput, MoreChunksThanCellsAreRefused) {  // resnet20 has 11 cells
  const std::string interleaved = "--schedule.kind=interleaved";
  expect_refused({interleaved, "--grid.stages=2", "--schedule.chunks=6"},
                 "schedule.chunks = 6 on grid.stages = 2 cuts the network into 12 chunks, but it has 11 cells. "
                 "Allowed: schedule.chunks = 2 to 5, or fewer grid.stages.",
                 2);
  expect_refused({interleaved, "--grid.stages=6"}, "Allowed: fewer grid.stages, or another schedule.kind.", 6);
  expect_refused({"--schedule.chunks=1"}, "schedule.chunks = 1 is out of range. Allowed: 2 to 64.");
}

TEST_F(BadInput, BatchesThatDoNotDivideAreRefused) {
  expect_refused({"--batch.micro=7"}, "batch.micro = 7 does not divide batch.global = 64. Nearest that do: 4, 8.");
  expect_refused({"--batch.global=100000", "--batch.micro=10"}, "batch.global = 100000");
}

TEST_F(BadInput, GridsThatDoNotFitAreRefusedOnceByRankZero) {
  expect_refused({"--grid.stages=3"}, "grid.stages = 3 does not divide the 4 ranks", 4);
  expect_refused({"--grid.stages=13"}, "grid.stages = 13: the network has 11 cells", 13);  // resnet20
  expect_refused({"--grid.stages=13"}, "grid.stages = 13 does not divide the 2 ranks", 2);
  expect_refused({"--batch.micro=32"}, "batch.micro = 32", 4);  // 2 micro-batches for 4 replicas
  expect_refused({"--batch.global=131072", "--batch.micro=1"}, "batch.global = 131072 is more than the 640 samples");
}

TEST_F(BadInput, DataThatIsNotThereOrDoesNotFitIsRefused) {
  expect_refused({"--data.train=" + (directory_ / "absent")}, "data.train");
  expect_refused({"--data.test=" + (directory_ / "absent")}, "data.test", 2);
  write_text(directory_ / "text.h5", "no data set");
  expect_refused({"--data.train=" + (directory_ / "text.h5")}, "data.train");
  expect_refused({"--init.weights=" + (directory_ / "text.h5")}, "init.weights", 2);
}

TEST_F(BadInput, AHomeThatNoShellHasReplacedIsRefusedAndNoFolderIsMade) {
  expect_refused({"--run.directory=~/convoy-run"}, "run.directory = ~/convoy-run begins with '~'", 2);
  EXPECT_FALSE(std::filesystem::exists("~"));
}

TEST_F(BadInput, APathThatCannotBeFollowedIsRefusedByItsKey) {
  std::filesystem::create_symlink("loop", directory_ / "loop");
  const std::string long_name(300, 'a');
  for (const std::string key : {"run.directory", "data.train", "data.test", "init.weights", "checkpoint.resume"}) {
    expect_refused({fmt::format("--{}={}", key, directory_ / "loop")}, key + " = ", 2);
    expect_refused({fmt::format("--{}=./{}", key, long_name)},
                   "the path is too long: each name in it may have 255 bytes");
  }
}

TEST_F(BadInput, ABorderWiderThanAnImageReflectsIsRefused) {
  expect_refused({"--augment.border=reflect", "--augment.crop_padding=64"},
                 "augment.crop_padding = 64 with augment.border = reflect: images of ", 2);
}

TEST_F(BadInput, TestDataOfAnotherShapeIsRefused) {
  // 12 x 12 images against 6 x 24: the same bytes under another header.
  write_small_idx(directory_ / "idx");
  for (const std::string name : {"train", "t10k"}) {
    const std::string path = (directory_ / "idx") + "/" + name + "-images-idx3-ubyte";
    std::string bytes = read_text(path);
    bytes[11] = 6, bytes[15] = 24;
    write_text(path, bytes);
  }
  ASSERT_EQ(run_program({.arguments = {"import", "--import.source=" + (directory_ / "idx"),
                                       "--import.output=" + (directory_ / "wide")}})
                .status,
            0);
  expect_refused({"--data.test=" + (directory_ / "wide/test")},
                 "data.test holds 6x24x1 images, but data.train holds 12x12x1");
}

TEST_F(BadInput, TruncatedIdxFilesAreRefusedAndNothingIsWritten) {
  const std::string folder = directory_ / "idx";
  write_small_idx(folder, {.num_train = 64, .num_test = 16});
  const std::string path = folder + "/train-images-idx3-ubyte";
  const std::string whole = read_text(path);
  for (const std::size_t length :
       {std::size_t{0}, std::size_t{3}, std::size_t{15}, std::size_t{16}, whole.size() / 2, whole.size() - 1}) {
    write_text(path, whole.substr(0, length));
    const ProcessResult result = run_program(
        {.arguments = {"import", "--import.source=" + folder, "--import.output=" + (directory_ / "imported")},
         .ranks = length == 0 ? 2 : 0});
    EXPECT_EQ(result.status, 2) << length << result.output;
    EXPECT_NE(result.output.find("train-images-idx3-ubyte"), std::string::npos) << result.output;
    EXPECT_FALSE(std::filesystem::exists(directory_ / "imported/train.h5"));
  }
}

}  // namespace convoy::test
