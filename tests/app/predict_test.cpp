/// Predictions: the same files on any grid, and the numbers that an evaluation counts.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <span>
#include <tuple>

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "app/prediction.h"

namespace convoy::test {

namespace {

std::string percent(const char* name, int count) {
  char text[32];
  std::snprintf(text, sizeof text, "%s %.2f %%", name, 100.0 * count / kSamples);
  return text;
}

const std::string kSharing = "weights: one copy in memory for 2 replicas";

// Returns "loss 0.4321  top-1 87.50 %": the text from the loss up to the speed.
std::string scores_in(const std::string& output) {
  const std::size_t begin = output.find("loss ");
  return output.substr(begin, output.find("  (", begin) - begin);
}

// Whether the machine has one domain of memory: otherwise it depends on the placement of ranks whether they share their
// weights.
bool has_one_domain() {
  return !std::filesystem::exists("/sys/devices/system/node/node1");
}

}  // namespace

TEST_F(Prediction, WritesTheSameBytesOnEveryGrid) {
  ASSERT_EQ(predict("1x1.csv", {}).status, 0);
  const std::string csv = read_text(directory_ / "1x1.csv"), h5 = read_text(directory_ / "1x1.h5");
  EXPECT_EQ(read_rows(directory_ / "1x1.csv").size(), 1u + kSamples);
  EXPECT_GT(h5.size(), kSamples * kClasses * sizeof(float));
  for (const auto& [stages, replicas] : {std::pair{1, 2}, {2, 1}, {2, 2}}) {
    const std::string name = std::to_string(stages) + "x" + std::to_string(replicas);
    const ProcessResult result = predict(name + ".csv", {"--grid.stages=" + std::to_string(stages)}, stages * replicas);
    ASSERT_EQ(result.status, 0) << result.output;
    EXPECT_TRUE(read_text(directory_ / (name + ".csv")) == csv) << name;
    EXPECT_TRUE(read_text(directory_ / (name + ".h5")) == h5) << name;
  }
}

TEST_F(Prediction, WritesTheSameBytesFromChunksAndAnEvaluationCountsTheSame) {
  ASSERT_EQ(predict("one.csv", {}).status, 0);
  const ProcessResult one = start("evaluate", {"--evaluate.confusion=true"});
  const std::string confusion = read_text(run_ + "/confusion.csv");
  for (const auto& [stages, replicas, chunks] : {std::tuple{2, 1, 2}, {2, 2, 3}, {3, 1, 3}}) {
    const std::string name = fmt::format("{}x{}, {} chunks", stages, replicas, chunks);
    const std::vector<std::string> more = {fmt::format("--grid.stages={}", stages), "--schedule.kind=interleaved",
                                           fmt::format("--schedule.chunks={}", chunks)};
    const ProcessResult predicted = predict(name + ".csv", more, stages * replicas);
    ASSERT_EQ(predicted.status, 0) << predicted.output;
    for (const std::string extension : {".csv", ".h5"})
      EXPECT_TRUE(read_text(directory_ / (name + extension)) == read_text(directory_ / ("one" + extension))) << name;
    const ProcessResult evaluated =
        start("evaluate", more + std::vector<std::string>{"--evaluate.confusion=true"}, stages * replicas);
    ASSERT_EQ(evaluated.status, 0) << evaluated.output;
    EXPECT_EQ(contains(evaluated.output, kSharing), replicas == 2 && has_one_domain()) << evaluated.output;
    EXPECT_EQ(scores_in(evaluated.output), scores_in(one.output));
    EXPECT_EQ(read_text(run_ + "/confusion.csv"), confusion) << name;
  }
}

TEST_F(Prediction, AgreesToRoundingWhereReplicasKeepWeightsInDifferentLayouts) {
  if (!__builtin_cpu_supports("avx512f")) GTEST_SKIP() << "oneDNN's layouts are those of AVX2 here in any case";
  ASSERT_EQ(predict("one.csv", {}).status, 0);
  // oneDNN's layouts for rank 0, which the others may read, are those of another processor.
  const std::string older = R"([ "$OMPI_COMM_WORLD_RANK" != 0 ] || export ONEDNN_MAX_CPU_ISA=AVX2; exec "$@")";
  const ProcessResult predicted =
      run_program({.arguments = {"predict", run_ + "/params.cfg", "--predict.output=" + (directory_ / "two.csv"),
                                 "--grid.stages=1"},
                   .ranks = 2,
                   .tool = {"sh", "-c", older, "sh"}});
  ASSERT_EQ(predicted.status, 0) << predicted.output;
  const std::string own = "; 1 rank keeps its own copies for convolutions, in other layouts\n";
  EXPECT_EQ(contains(predicted.output, kSharing + own), has_one_domain()) << predicted.output;
  const Rows one = read_rows(directory_ / "one.csv"), two = read_rows(directory_ / "two.csv");
  ASSERT_EQ(one.size(), two.size());
  for (std::size_t i = 1; i < one.size(); ++i)  // name, label, class, p1, ...: to the rounding of another processor
    EXPECT_NEAR(std::stod(one[i].at(3)), std::stod(two[i].at(3)), 1e-4) << "sample " << i;
}

TEST_F(Prediction, AgreesWithWhatAnEvaluationCounts) {
  const ProcessResult predicted = start("predict", {"--predict.top=100"});  // more than there are classes: gives all
  ASSERT_EQ(predicted.status, 0) << predicted.output;
  const ProcessResult evaluated = start("evaluate", {"--evaluate.confusion=true"}, 2);
  ASSERT_EQ(evaluated.status, 0) << evaluated.output;

  const Rows rows = read_rows(run_ + "/predictions.csv");
  ASSERT_EQ(rows.size(), 1u + kSamples);
  EXPECT_EQ(rows[0][0] + "," + rows[0][1] + "," + rows[0][2] + "," + rows[0][3] + "," + rows[0][4],
            "name,label,class,p1,class2");
  int num_right = 0, num_among_best = 0;
  for (int i = 0; i < kSamples; ++i) {
    const std::vector<std::string>& row = rows[1 + i];
    ASSERT_EQ(row.size(), 2u + 2 * kClasses);
    EXPECT_EQ(row[0], "t10k-images-idx3-ubyte:" + std::to_string(i)) << "in the order of the samples";
    EXPECT_EQ(row[1], std::to_string(i % kClasses)) << "each with its own label";
    if (row[2] == row[1]) ++num_right;
    double sum = 0, before = 1;
    for (int k = 0; k < kClasses; ++k) {
      const double p = std::stod(row[3 + 2 * k]);
      EXPECT_LE(p, before);
      if (k < 5 && row[2 + 2 * k] == row[1]) ++num_among_best;
      sum += p;
      before = p;
    }
    EXPECT_NEAR(sum, 1, 1e-5);  // 6 digits: each p is rounded by at most 5e-6 p
  }
  EXPECT_LT(num_right, num_among_best) << "else the test could not tell the two apart";
  for (const std::string& text : {percent("top-1", num_right), percent("top-5", num_among_best)})
    EXPECT_TRUE(contains(evaluated.output, text)) << text << "\n" << evaluated.output;
  EXPECT_TRUE(contains(predicted.output, percent("top-1", num_right))) << predicted.output;

  const Rows confusion = read_rows(run_ + "/confusion.csv"), classes = read_rows(run_ + "/classes.csv");
  ASSERT_EQ(confusion.size(), 1u + kClasses);
  ASSERT_EQ(classes.size(), 1u + kClasses);
  double recalls = 0;
  for (int label = 0; label < kClasses; ++label) recalls += std::stod(classes[1 + label][3]);
  const std::string balanced = fmt::format("balanced accuracy {:.2f} %, macro F1 0.", 100 * recalls / kClasses);
  EXPECT_TRUE(contains(evaluated.output, balanced)) << balanced << "\n" << evaluated.output;
  for (int label = 0; label < kClasses; ++label)
    for (int guess = 0; guess < kClasses; ++guess) {
      const auto taken = std::count_if(rows.begin() + 1, rows.end(), [&](const auto& row) {
        return row[1] == std::to_string(label) && row[2] == std::to_string(guess);
      });
      EXPECT_EQ(confusion[1 + label][1 + guess], std::to_string(taken)) << label << " as " << guess;
      if (label == guess) {
        EXPECT_EQ(classes[1 + label][2], std::to_string(taken));
      }
    }
}

/// Returns the probabilities of each sample by class.
std::vector<std::map<std::string, double>> probabilities(const Rows& rows) {
  std::vector<std::map<std::string, double>> samples;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    samples.emplace_back();
    for (std::size_t k = 2; k + 1 < rows[i].size(); k += 2) samples.back()[rows[i][k]] = std::stod(rows[i][k + 1]);
  }
  return samples;
}

// Makes two data sets, one of the other's mirror images: seen from both sides they are the same.
TEST_F(Prediction, WithMirrorImagesIsTheMeanOfBothOnEveryGrid) {
  const std::string source = directory_ / "mirrored source", images = source + "/t10k-images-idx3-ubyte";
  write_small_idx(source, {.num_test = kSamples, .num_classes = kClasses});
  constexpr std::size_t kHeader = 16, kWidth = 12;
  std::string bytes = read_text(images);
  for (std::size_t row = kHeader; row < bytes.size(); row += kWidth)
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(row),
                 bytes.begin() + static_cast<std::ptrdiff_t>(row + kWidth));
  write_bytes(images, std::as_bytes(std::span(bytes)));
  const std::string mirrored = directory_ / "mirrored";
  ASSERT_EQ(run_program({.arguments = {"import", "--import.source=" + source, "--import.output=" + mirrored}}).status,
            0);

  const std::vector<std::string> all = {"--predict.top=100"},
                                 both = all + std::vector<std::string>{"--evaluate.mirror=true"};
  const std::vector<std::string> of_mirrored = {"--predict.data=" + mirrored + "/test"};
  ASSERT_EQ(predict("plain.csv", all).status, 0);
  ASSERT_EQ(predict("mirrored.csv", all + of_mirrored).status, 0);
  const ProcessResult predicted = predict("both.csv", both);
  ASSERT_EQ(predicted.status, 0) << predicted.output;
  const auto plain = probabilities(read_rows(directory_ / "plain.csv")),
             other = probabilities(read_rows(directory_ / "mirrored.csv")),
             mean = probabilities(read_rows(directory_ / "both.csv"));
  ASSERT_EQ(mean.size(), kSamples);
  double largest_difference = 0;
  for (std::size_t i = 0; i < mean.size(); ++i)
    for (const auto& [name, p] : mean[i]) {
      EXPECT_NEAR(p, (plain[i].at(name) + other[i].at(name)) / 2, 1e-5) << i << ", " << name;  // p has 6 digits
      largest_difference = std::max(largest_difference, std::abs(plain[i].at(name) - other[i].at(name)));
    }
  EXPECT_GT(largest_difference, 1e-3) << "both sides look alike: nothing was tested";

  const std::string csv = read_text(directory_ / "both.csv");
  ASSERT_EQ(predict("from behind.csv", both + of_mirrored).status, 0);
  EXPECT_TRUE(read_text(directory_ / "from behind.csv") == csv);
  ASSERT_EQ(predict("2x2.csv", both + std::vector<std::string>{"--grid.stages=2"}, 4).status, 0);
  EXPECT_TRUE(read_text(directory_ / "2x2.csv") == csv);
  const ProcessResult evaluated = start("evaluate", {"--evaluate.mirror=true"}, 2);
  const std::size_t top1 = evaluated.output.find("top-1 ");
  ASSERT_NE(top1, std::string::npos) << evaluated.output;
  EXPECT_TRUE(contains(predicted.output, evaluated.output.substr(top1, 13))) << predicted.output << evaluated.output;
}

TEST_F(Prediction, OfAFolderOfShardsTakesTest) {
  ASSERT_EQ(predict("test.csv", {}).status, 0);
  const ProcessResult folder = predict("folder.csv", {"--predict.data=" + (directory_ / "small/data")}, 2);
  ASSERT_EQ(folder.status, 0) << folder.output;
  EXPECT_EQ(read_text(directory_ / "folder.csv"), read_text(directory_ / "test.csv"));
  const ProcessResult absent = predict("p.csv", {"--predict.data=" + (directory_ / "absent")}, 2);
  EXPECT_EQ(absent.status, 2) << absent.output;
  EXPECT_TRUE(contains(absent.output, "absent: there is no such file or folder")) << absent.output;
  const ProcessResult picture = predict("p.csv", {"--predict.data=" + (directory_ / "absent.jpg")}, 2);
  EXPECT_EQ(picture.status, 2) << picture.output;
  EXPECT_TRUE(contains(picture.output, "absent.jpg: there is no such file\n")) << picture.output;
}

TEST_F(Prediction, TakesDataOfOtherClassesWhoseNamesSayWhichAreKnown) {
  const auto others = import_small_data(directory_ / "others", {.num_test = 20, .num_classes = 4});
  const ProcessResult result = predict("others.csv", {"--predict.data=" + (directory_ / "others/data/test")}, 2);
  ASSERT_EQ(result.status, 0) << result.output;
  const Rows rows = read_rows(directory_ / "others.csv");
  ASSERT_EQ(rows.size(), 21u);
  const auto num_right = std::count_if(rows.begin() + 1, rows.end(), [](const auto& row) { return row[1] == row[2]; });
  char text[32];
  std::snprintf(text, sizeof text, "top-1 %.2f %%", 100.0 * static_cast<double>(num_right) / 20);
  EXPECT_TRUE(contains(result.output, text)) << text << result.output;
}

TEST_F(Prediction, NeedsNothingButTheCheckpointAndTheData) {
  ASSERT_EQ(predict("with.csv", {}).status, 0);
  const ProcessResult with = start("evaluate", {});
  ASSERT_EQ(with.status, 0) << with.output;
  std::filesystem::remove(directory_ / "small/data/train.h5");
  // Without a parameter file, too: the checkpoint tells what such a file would say of the network.
  const std::vector<std::string> alone = {"--init.weights=" + run_ + "/checkpoints/best.h5",
                                          "--data.test=" + (directory_ / "small/data/test"), "--run.device=cpu",
                                          "--run.threads=1"};
  const ProcessResult predicted =
      run_program({.arguments = std::vector<std::string>{"predict", "--predict.output=" + (directory_ / "alone.csv"),
                                                         "--augment.normalize=false"} +
                                alone,
                   .ranks = 2});
  ASSERT_EQ(predicted.status, 0) << predicted.output;
  // In micro-batches of 32, not 8, oneDNN may add in another order: the last of 6 digits may differ, the classes do
  // not.
  const Rows rows = read_rows(directory_ / "alone.csv"), want = read_rows(directory_ / "with.csv");
  ASSERT_EQ(rows.size(), want.size());
  for (std::size_t i = 1; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i][0], want[i][0]);
    EXPECT_EQ(rows[i][2], want[i][2]);
    EXPECT_NEAR(std::stod(rows[i][3]), std::stod(want[i][3]), 1e-5) << i;
  }
  const ProcessResult evaluated = run_program({.arguments = std::vector<std::string>{"evaluate"} + alone});
  ASSERT_EQ(evaluated.status, 0) << evaluated.output;
  const auto top1 = [](const std::string& output) { return output.substr(output.find("top-1"), 13); };
  EXPECT_EQ(top1(evaluated.output), top1(with.output));
  // The run's own parameter file still names the data that are gone: this is only mentioned.
  const ProcessResult gone = start("evaluate", {}, 2);
  EXPECT_EQ(gone.status, 0) << gone.output;
  EXPECT_TRUE(contains(gone.output, "cannot be compared with what it was trained on")) << gone.output;
  EXPECT_EQ(top1(gone.output), top1(with.output));
}

TEST_F(Prediction, RefusesTrainingOrTestDataOfOtherClassesThanTheCheckpoints) {
  import_small_data(directory_ / "others", {.num_classes = 4});
  for (const std::string command : {"evaluate", "predict"}) {
    const ProcessResult result = start(command, {"--data.train=" + (directory_ / "others/data/train")}, 2);
    EXPECT_EQ(result.status, 2) << result.output;
    EXPECT_TRUE(contains(result.output, "data.train has 4 classes, but '")) << result.output;
    EXPECT_TRUE(contains(result.output, "belong to another data set: look at init.weights")) << result.output;
  }
  const ProcessResult test = start("evaluate", {"--data.test=" + (directory_ / "others/data/test")});
  EXPECT_EQ(test.status, 2) << test.output;
  EXPECT_TRUE(contains(test.output, "data.test has 4 classes, but '")) << test.output;
  EXPECT_TRUE(contains(test.output, "belong to another data set")) << test.output;
}

TEST_F(Prediction, SeesImagesAtAnotherSizeWhereThatIsAskedFor) {
  ASSERT_EQ(predict("own.csv", {}).status, 0);
  const ProcessResult larger = predict("larger.csv", {"--augment.size=16"}, 2);
  ASSERT_EQ(larger.status, 0) << larger.output;
  EXPECT_EQ(read_rows(directory_ / "larger.csv").size(), 1u + kSamples);
  EXPECT_NE(read_text(directory_ / "larger.csv"), read_text(directory_ / "own.csv"));
}

// The network was trained on 12 x 12.
TEST_F(Prediction, AnEvaluationResizesAnImportOfAnotherSizeAndTrainingRefusesIt) {
  const std::string larger = directory_ / "larger";
  const ProcessResult import = run_program({.arguments = {"import", "--import.source=" + (directory_ / "small/idx"),
                                                          "--import.output=" + larger, "--import.size=24"}});
  ASSERT_EQ(import.status, 0) << import.output;
  const ProcessResult own = start("evaluate", {}), resized = start("evaluate", {"--data.test=" + larger}, 2);
  ASSERT_EQ(resized.status, 0) << resized.output;
  EXPECT_TRUE(contains(resized.output, "images: 24x24x1, resized to 12x12x1\n")) << resized.output;
  EXPECT_FALSE(contains(own.output, "resized to")) << own.output;
  const ProcessResult training =
      run_program({.arguments = arguments_ + std::vector<std::string>{"--data.test=" + larger,
                                                                      "--run.directory=" + (directory_ / "none")}});
  EXPECT_EQ(training.status, 2) << training.output;
  EXPECT_TRUE(contains(training.output, "data.test holds 24x24x1 images, but data.train holds 12x12x1"))
      << training.output;
}

TEST_F(Prediction, RefusesWhatCannotBeWritten) {
  const ProcessResult folder = predict("absent/p.csv", {}, 2);
  EXPECT_EQ(folder.status, 2) << folder.output;
  EXPECT_TRUE(contains(folder.output, "predict.output: cannot create '" + (directory_ / "absent/p.h5") + "'"))
      << folder.output;
  const ProcessResult suffix = predict("p.txt", {});
  EXPECT_EQ(suffix.status, 2) << suffix.output;
  EXPECT_TRUE(contains(suffix.output, "must end in .csv")) << suffix.output;
}

TEST_F(Prediction, SaysOnceWhatToDoAboutAFullDiskAndWhatItHoldsWithoutThePartialFile) {
  const std::string disk = directory_ / "disk";
  std::filesystem::create_directories(disk);
  const auto start_on = [&](const std::string& options) {
    const std::string mount = "mount -t tmpfs -o " + options + " none " + disk + " || exit 77; exec \"$0\" \"$@\"";
    return run_program({.arguments = {"predict", run_ + "/params.cfg", "--predict.output=" + disk + "/p.csv"},
                        .tool = {"unshare", "-rm", "sh", "-c", mount}});
  };
  const bool counts_in_4k = sysconf(_SC_PAGESIZE) == 4096;
  if (!counts_in_4k || std::system("unshare -rm true") != 0 || start_on("size=1m").status == 77)
    GTEST_SKIP() << "no disk of one's own";
  const ProcessResult full = start_on("size=8k");
  EXPECT_EQ(full.status, 1) << full.output;
  EXPECT_TRUE(contains(full.output, "the disk has 4.0 KiB free). Make room")) << full.output;
  const ProcessResult no_file = start_on("nr_inodes=2");  // one inode for the folder
  EXPECT_EQ(no_file.status, 2) << no_file.output;
  EXPECT_TRUE(contains(no_file.output, "predict.output: cannot create '" + disk + "/p.csv': No space"))
      << no_file.output;
  EXPECT_TRUE(no_file.output.ends_with("'ulimit -f'.\n")) << no_file.output;
}

TEST_F(Prediction, RefusesARunWithoutWeightsAndLeavesNothing) {
  const ProcessResult result = start("predict", {"--run.directory=" + (directory_ / "empty")}, 2);
  EXPECT_EQ(result.status, 2) << result.output;
  EXPECT_TRUE(contains(result.output, "holds no checkpoint. Train first")) << result.output;
  EXPECT_FALSE(std::filesystem::exists(directory_ / "empty"));
}

}  // namespace convoy::test
