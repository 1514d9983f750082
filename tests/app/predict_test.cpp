/// Predictions: the same files on any grid, and the numbers that an evaluation counts.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <span>
#include <sstream>
#include <tuple>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "app/program.h"
#include "app/small_data.h"
#include "unit/data/image_files.h"
#include "unit/io/temporary_directory.h"

namespace convoy::test {

namespace {

using Rows = std::vector<std::vector<std::string>>;

Rows read_rows(const std::string& path) {
  Rows rows;
  std::istringstream text(read_text(path));
  for (std::string line; std::getline(text, line);) {
    std::istringstream fields(line);
    rows.emplace_back();
    for (std::string field; std::getline(fields, field, ',');) rows.back().push_back(field);
  }
  return rows;
}

constexpr int kClasses = 12, kSamples = 100;

// 100 samples: neither whole steps of 64 nor whole micro-batches of 8.
class Prediction : public testing::Test {
 protected:
  Prediction()
      : arguments_(import_small_data(directory_ / "small", {.num_test = kSamples, .num_classes = kClasses})),
        run_(directory_ / "run") {
    const Ending ending =
        run_program({.arguments = arguments_ + std::vector<std::string>{"--train.max_steps=12", "--optimizer.lr=0.2",
                                                                        "--run.directory=" + run_}});
    EXPECT_EQ(ending.status, 0) << ending.output;
  }

  Ending start(const std::string& command, const std::vector<std::string>& more, int ranks = 0) const {
    return run_program({.arguments = std::vector<std::string>{command, run_ + "/params.cfg"} + more, .ranks = ranks});
  }
  Ending predict(const std::string& name, const std::vector<std::string>& more, int ranks = 0) const {
    return start("predict", more + std::vector<std::string>{"--predict.output=" + (directory_ / name)}, ranks);
  }

  WorkingDirectory directory_;
  std::vector<std::string> arguments_;
  std::string run_;
};

/// 14 images of sizes of their own: flat, in class folders, in a split's.
class FolderPrediction : public Prediction {
 protected:
  FolderPrediction() : folder_(directory_ / "photos") {
    for (const std::string name : {"b.png", "a.png", "3/x.png", "3/old/y.png", "dog/1.png", "test/7/z.png"})
      write_image(name, 12 + static_cast<int>(images_.size()));
    for (int i = 0; i < 8; ++i) write_image("many/" + std::to_string(i) + ".jpg", 30 + i);
    std::sort(images_.begin(), images_.end());
  }

  void write_image(const std::string& name, int side) {
    const std::string path = folder_ + "/" + name;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    write_bytes(path, name.ends_with(".jpg") ? make_jpeg({.h = side, .w = side + 3, .channels = 1})
                                             : make_png({.h = side, .w = side, .color_type = 0}));
    images_.push_back(name);
  }
  std::vector<std::string> names_in(const std::string& csv) const {
    const Rows rows = read_rows(directory_ / csv);
    std::vector<std::string> names;
    for (std::size_t i = 1; i < rows.size(); ++i) names.push_back(rows[i][0]);
    return names;
  }

  std::string folder_;
  std::vector<std::string> images_;
};

// The same samples. Where one stands in its micro-batch may change the last bits of a product: of 6 digits the last
// ones.
void expect_same_but_for_rounding(const Rows& a, const Rows& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 1; i < a.size(); ++i) {
    ASSERT_EQ(a[i].size(), b[i].size());
    for (const std::size_t text : {0, 1, 2}) EXPECT_EQ(a[i][text], b[i][text]) << i;
    for (std::size_t p = 3; p < a[i].size(); p += 2) EXPECT_NEAR(std::stod(a[i][p]), std::stod(b[i][p]), 1e-5) << i;
  }
}

std::string percent(const char* name, int count) {
  char text[32];
  std::snprintf(text, sizeof text, "%s %.2f %%", name, 100.0 * count / kSamples);
  return text;
}

}  // namespace

TEST_F(Prediction, WritesTheSameBytesOnEveryGrid) {
  ASSERT_EQ(predict("1x1.csv", {}).status, 0);
  const std::string csv = read_text(directory_ / "1x1.csv"), h5 = read_text(directory_ / "1x1.h5");
  EXPECT_EQ(read_rows(directory_ / "1x1.csv").size(), 1u + kSamples);
  EXPECT_GT(h5.size(), kSamples * kClasses * sizeof(float));
  for (const auto& [stages, replicas] : {std::pair{1, 2}, {2, 1}, {2, 2}}) {
    const std::string name = std::to_string(stages) + "x" + std::to_string(replicas);
    const Ending ending = predict(name + ".csv", {"--grid.stages=" + std::to_string(stages)}, stages * replicas);
    ASSERT_EQ(ending.status, 0) << ending.output;
    EXPECT_TRUE(read_text(directory_ / (name + ".csv")) == csv) << name;
    EXPECT_TRUE(read_text(directory_ / (name + ".h5")) == h5) << name;
  }
}

TEST_F(Prediction, WritesTheSameBytesFromChunksAndAnEvaluationCountsTheSame) {
  ASSERT_EQ(predict("one.csv", {}).status, 0);
  const Ending one = start("evaluate", {"--evaluate.confusion=true"});
  const std::string confusion = read_text(run_ + "/confusion.csv");
  for (const auto& [stages, replicas, chunks] : {std::tuple{2, 1, 2}, {2, 2, 3}, {3, 1, 3}}) {
    const std::string name = fmt::format("{}x{}, {} chunks", stages, replicas, chunks);
    const std::vector<std::string> more = {fmt::format("--grid.stages={}", stages), "--schedule.kind=interleaved",
                                           fmt::format("--schedule.chunks={}", chunks)};
    const Ending predicted = predict(name + ".csv", more, stages * replicas);
    ASSERT_EQ(predicted.status, 0) << predicted.output;
    for (const std::string extension : {".csv", ".h5"})
      EXPECT_TRUE(read_text(directory_ / (name + extension)) == read_text(directory_ / ("one" + extension))) << name;
    const Ending evaluated =
        start("evaluate", more + std::vector<std::string>{"--evaluate.confusion=true"}, stages * replicas);
    ASSERT_EQ(evaluated.status, 0) << evaluated.output;
    EXPECT_EQ(evaluated.output.substr(evaluated.output.find("loss "), 30),
              one.output.substr(one.output.find("loss "), 30));
    EXPECT_EQ(read_text(run_ + "/confusion.csv"), confusion) << name;
  }
}

TEST_F(Prediction, AgreesWithWhatAnEvaluationCounts) {
  const Ending predicted = start("predict", {"--predict.top=100"});  // more than there are: all
  ASSERT_EQ(predicted.status, 0) << predicted.output;
  const Ending evaluated = start("evaluate", {"--evaluate.confusion=true"}, 2);
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

/// The probabilities of each sample by class, and what else a row says.
std::vector<std::map<std::string, double>> probabilities(const Rows& rows) {
  std::vector<std::map<std::string, double>> samples;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    samples.emplace_back();
    for (std::size_t k = 2; k + 1 < rows[i].size(); k += 2) samples.back()[rows[i][k]] = std::stod(rows[i][k + 1]);
  }
  return samples;
}

// Of two data sets one has the other's mirror images: seen from both sides they are the same.
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
  const Ending predicted = predict("both.csv", both);
  ASSERT_EQ(predicted.status, 0) << predicted.output;
  const auto plain = probabilities(read_rows(directory_ / "plain.csv")),
             other = probabilities(read_rows(directory_ / "mirrored.csv")),
             mean = probabilities(read_rows(directory_ / "both.csv"));
  ASSERT_EQ(mean.size(), kSamples);
  double largest_difference = 0;
  for (std::size_t i = 0; i < mean.size(); ++i)
    for (const auto& [name, p] : mean[i]) {
      EXPECT_NEAR(p, (plain[i].at(name) + other[i].at(name)) / 2, 1e-5) << i << ", " << name;  // of 6 digits
      largest_difference = std::max(largest_difference, std::abs(plain[i].at(name) - other[i].at(name)));
    }
  EXPECT_GT(largest_difference, 1e-3) << "both sides look alike: nothing was tested";

  const std::string csv = read_text(directory_ / "both.csv");
  ASSERT_EQ(predict("from behind.csv", both + of_mirrored).status, 0);
  EXPECT_TRUE(read_text(directory_ / "from behind.csv") == csv);
  ASSERT_EQ(predict("2x2.csv", both + std::vector<std::string>{"--grid.stages=2"}, 4).status, 0);
  EXPECT_TRUE(read_text(directory_ / "2x2.csv") == csv);
  const Ending evaluated = start("evaluate", {"--evaluate.mirror=true"}, 2);
  const std::size_t top1 = evaluated.output.find("top-1 ");
  ASSERT_NE(top1, std::string::npos) << evaluated.output;
  EXPECT_TRUE(contains(predicted.output, evaluated.output.substr(top1, 13))) << predicted.output << evaluated.output;
}

TEST_F(FolderPrediction, OfFilesAsTheyLieGivesTheSameBytesOnEveryGrid) {
  const std::string data = "--predict.data=" + folder_;
  const Ending ending = predict("1x1.csv", {data});
  ASSERT_EQ(ending.status, 0) << ending.output;
  EXPECT_EQ(names_in("1x1.csv"), images_);
  const Rows rows = read_rows(directory_ / "1x1.csv");
  EXPECT_EQ(rows[1 + 0][1], "3");  // 3/old/y.png
  EXPECT_EQ(rows[1 + 2][1], "") << rows[1 + 2][0];
  EXPECT_EQ(rows[1 + 13][1], "7") << rows[1 + 13][0];
  // Three of them are of classes that the network knows.
  EXPECT_TRUE(contains(ending.output, "14 samples  top-1 ")) << ending.output;
  const std::string csv = read_text(directory_ / "1x1.csv"), h5 = read_text(directory_ / "1x1.h5");
  for (const auto& [stages, replicas] : {std::pair{1, 2}, {2, 1}, {2, 2}}) {
    const std::string name = std::to_string(stages) + "x" + std::to_string(replicas);
    const Ending other = predict(
        name + ".csv", {data, "--grid.stages=" + std::to_string(stages), "--data.loader_threads=3"}, stages * replicas);
    ASSERT_EQ(other.status, 0) << other.output;
    EXPECT_TRUE(read_text(directory_ / (name + ".csv")) == csv) << name;
    EXPECT_TRUE(read_text(directory_ / (name + ".h5")) == h5) << name;
  }
}

TEST_F(FolderPrediction, OfOneFileAndOfAFolderThatHoldsAFileOfHdf5Too) {
  ASSERT_EQ(predict("all.csv", {"--predict.data=" + folder_}).status, 0);
  const Ending one = predict("one.csv", {"--predict.data=" + folder_ + "/b.png"}, 2);
  ASSERT_EQ(one.status, 0) << one.output;
  EXPECT_EQ(names_in("one.csv"), std::vector<std::string>{"b.png"});
  ASSERT_EQ(predict("photos/here.csv", {"--predict.data=" + folder_ + "/b.png"}).status, 0);
  const Ending beside = predict("beside.csv", {"--predict.data=" + folder_ + "/"});  // here.h5 and here.csv lie there
  ASSERT_EQ(beside.status, 0) << beside.output;
  EXPECT_TRUE(contains(beside.output, "left out 'here.h5': it is neither a JPEG nor a PNG")) << beside.output;
  EXPECT_EQ(read_rows(directory_ / "beside.csv"), read_rows(directory_ / "all.csv"));
}

TEST_F(FolderPrediction, GivesEachFileWhatItHasAlone) {
  ASSERT_EQ(predict("all.csv", {"--predict.data=" + folder_}).status, 0);
  ASSERT_EQ(predict("many.csv", {"--predict.data=" + folder_ + "/many"}).status, 0);
  Rows all = read_rows(directory_ / "all.csv"), many = read_rows(directory_ / "many.csv");
  ASSERT_EQ(many.size(), 9u);
  std::erase_if(all, [](const auto& row) { return row[0] != "name" && !contains(row[0], "many/"); });
  for (std::size_t i = 1; i < many.size(); ++i) many[i][0] = "many/" + many[i][0], many[i][1] = "many";
  expect_same_but_for_rounding(many, all);
  EXPECT_GT(std::abs(std::stod(many[1][3]) - std::stod(many[8][3])), 1e-4) << "alike, the test could tell nothing";
}

TEST_F(FolderPrediction, LeavesBadFilesOutAndNamesThemOrStopsAtTheFirst) {
  ASSERT_EQ(predict("good.csv", {"--predict.data=" + folder_}).status, 0);
  write_text(folder_ + "/notes.txt", "no image");
  const std::string whole = read_text(folder_ + "/b.png");
  write_text(folder_ + "/3/cut.png", whole.substr(0, whole.size() / 2));
  for (const int ranks : {0, 2, 4}) {
    const std::vector<std::string> used = {"--predict.data=" + folder_,
                                           "--grid.stages=" + std::to_string(ranks == 4 ? 2 : 1)};
    const std::string name = std::to_string(ranks) + "-bad.csv";
    const Ending ending = predict(name, used, ranks);
    ASSERT_EQ(ending.status, 0) << ending.output;
    EXPECT_TRUE(contains(ending.output, "left out '3/cut.png': it is damaged: it ends too early")) << ending.output;
    EXPECT_TRUE(contains(ending.output, "left out 'notes.txt': it is neither a JPEG nor a PNG")) << ending.output;
    EXPECT_TRUE(contains(ending.output, "14 samples  top-1 ")) << ending.output;
    EXPECT_TRUE(contains(ending.output, "; left out 2 bad ones, named above")) << ending.output;
    expect_same_but_for_rounding(read_rows(directory_ / name), read_rows(directory_ / "good.csv"));
    EXPECT_TRUE(read_text(directory_ / name) == read_text(directory_ / "0-bad.csv")) << ranks;
    const std::string h5 = read_text(directory_ / (name.substr(0, name.size() - 3) + "h5"));
    EXPECT_TRUE(h5 == read_text(directory_ / "0-bad.h5")) << ranks;
    EXPECT_EQ(h5.size(), read_text(directory_ / "good.h5").size()) << "there is a row that was left out";

    const Ending strict = predict("strict.csv", used + std::vector<std::string>{"--predict.strict=true"}, ranks);
    EXPECT_EQ(strict.status, 2) << strict.output;
    EXPECT_TRUE(contains(strict.output, "predict.strict: in predict.data = " + folder_ + ", '3/cut.png': it is "))
        << strict.output;
    for (const std::string left : {"strict.csv", "strict.h5", "strict.csv.partial", "strict.h5.partial"})
      EXPECT_FALSE(std::filesystem::exists(directory_ / left)) << left;
  }
}

TEST_F(Prediction, OfAFolderOfShardsTakesTest) {
  ASSERT_EQ(predict("test.csv", {}).status, 0);
  const Ending folder = predict("folder.csv", {"--predict.data=" + (directory_ / "small/data")}, 2);
  ASSERT_EQ(folder.status, 0) << folder.output;
  EXPECT_EQ(read_text(directory_ / "folder.csv"), read_text(directory_ / "test.csv"));
  const Ending absent = predict("p.csv", {"--predict.data=" + (directory_ / "absent")}, 2);
  EXPECT_EQ(absent.status, 2) << absent.output;
  EXPECT_TRUE(contains(absent.output, "absent: there is no such file or folder")) << absent.output;
}

TEST_F(FolderPrediction, OfNothingGoodIsRefused) {
  std::filesystem::create_directories(directory_ / "bad");
  write_text(directory_ / "bad/1.png", "no image");
  const Ending bad = predict("p.csv", {"--predict.data=" + (directory_ / "bad")}, 2);
  EXPECT_EQ(bad.status, 2) << bad.output;
  EXPECT_TRUE(contains(bad.output, "none of 1 images is good, the first: '1.png': it is neither")) << bad.output;
  std::filesystem::create_directories(directory_ / "empty");
  const Ending empty = predict("p.csv", {"--predict.data=" + (directory_ / "empty")}, 2);
  EXPECT_EQ(empty.status, 2) << empty.output;
  EXPECT_TRUE(contains(empty.output, "it holds neither files of images nor shards of a data set")) << empty.output;
}

TEST_F(Prediction, TakesDataOfOtherClassesWhoseNamesSayWhichAreKnown) {
  const auto others = import_small_data(directory_ / "others", {.num_test = 20, .num_classes = 4});
  const Ending ending = predict("others.csv", {"--predict.data=" + (directory_ / "others/data/test")}, 2);
  ASSERT_EQ(ending.status, 0) << ending.output;
  const Rows rows = read_rows(directory_ / "others.csv");
  ASSERT_EQ(rows.size(), 21u);
  const auto num_right = std::count_if(rows.begin() + 1, rows.end(), [](const auto& row) { return row[1] == row[2]; });
  char text[32];
  std::snprintf(text, sizeof text, "top-1 %.2f %%", 100.0 * static_cast<double>(num_right) / 20);
  EXPECT_TRUE(contains(ending.output, text)) << text << ending.output;
}

TEST_F(Prediction, NeedsNothingButTheCheckpointAndTheData) {
  ASSERT_EQ(predict("with.csv", {}).status, 0);
  const Ending with = start("evaluate", {});
  ASSERT_EQ(with.status, 0) << with.output;
  std::filesystem::remove(directory_ / "small/data/train.h5");
  // No parameter file either, and what one would say of the network is the checkpoint's to say.
  const std::vector<std::string> alone = {"--init.weights=" + run_ + "/checkpoints/step-00000012.h5",
                                          "--data.test=" + (directory_ / "small/data/test"), "--run.device=cpu",
                                          "--run.threads=1"};
  const Ending predicted =
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
  const Ending evaluated = run_program({.arguments = std::vector<std::string>{"evaluate"} + alone});
  ASSERT_EQ(evaluated.status, 0) << evaluated.output;
  const auto top1 = [](const std::string& output) { return output.substr(output.find("top-1"), 13); };
  EXPECT_EQ(top1(evaluated.output), top1(with.output));
  // The run's own parameter file still names the data that is gone: said, no more.
  const Ending gone = start("evaluate", {}, 2);
  EXPECT_EQ(gone.status, 0) << gone.output;
  EXPECT_TRUE(contains(gone.output, "cannot be compared with what it was trained on")) << gone.output;
  EXPECT_EQ(top1(gone.output), top1(with.output));
}

TEST_F(Prediction, RefusesTrainingOrTestDataOfOtherClassesThanTheCheckpoints) {
  import_small_data(directory_ / "others", {.num_classes = 4});
  for (const std::string command : {"evaluate", "predict"}) {
    const Ending ending = start(command, {"--data.train=" + (directory_ / "others/data/train")}, 2);
    EXPECT_EQ(ending.status, 2) << ending.output;
    EXPECT_TRUE(contains(ending.output, "data.train has other classes (4) than '")) << ending.output;
  }
  const Ending test = start("evaluate", {"--data.test=" + (directory_ / "others/data/test")});
  EXPECT_EQ(test.status, 2) << test.output;
  EXPECT_TRUE(contains(test.output, "data.test has other classes (4) than '")) << test.output;
}

TEST_F(Prediction, SeesImagesAtAnotherSizeWhereThatIsAskedFor) {
  ASSERT_EQ(predict("own.csv", {}).status, 0);
  const Ending larger = predict("larger.csv", {"--augment.size=16"}, 2);
  ASSERT_EQ(larger.status, 0) << larger.output;
  EXPECT_EQ(read_rows(directory_ / "larger.csv").size(), 1u + kSamples);
  EXPECT_NE(read_text(directory_ / "larger.csv"), read_text(directory_ / "own.csv"));
}

TEST_F(Prediction, RefusesWhatCannotBeWritten) {
  const Ending folder = predict("absent/p.csv", {}, 2);
  EXPECT_EQ(folder.status, 2) << folder.output;
  EXPECT_TRUE(contains(folder.output, "predict.output: cannot create '" + (directory_ / "absent/p.h5") + "'"))
      << folder.output;
  const Ending suffix = predict("p.txt", {});
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
  const Ending full = start_on("size=8k");
  EXPECT_EQ(full.status, 1) << full.output;
  EXPECT_TRUE(contains(full.output, "the disk has 4.0 KiB free). Make room")) << full.output;
  const Ending no_file = start_on("nr_inodes=2");  // one for the folder
  EXPECT_EQ(no_file.status, 2) << no_file.output;
  EXPECT_TRUE(contains(no_file.output, "predict.output: cannot create '" + disk + "/p.csv': No space"))
      << no_file.output;
  EXPECT_TRUE(no_file.output.ends_with("'ulimit -f'.\n")) << no_file.output;
}

TEST_F(Prediction, RefusesARunWithoutWeightsAndLeavesNothing) {
  const Ending ending = start("predict", {"--run.directory=" + (directory_ / "empty")}, 2);
  EXPECT_EQ(ending.status, 2) << ending.output;
  EXPECT_TRUE(contains(ending.output, "holds no checkpoint. Train first")) << ending.output;
  EXPECT_FALSE(std::filesystem::exists(directory_ / "empty"));
}

}  // namespace convoy::test
