/// Predictions of image files without an import.
#include <algorithm>
#include <filesystem>

#include <fmt/core.h>

#include "convoy/io/atomic_file.h"
#include "convoy/io/checkpoint.h"

#include "app/prediction.h"
#include "unit/data/image_files.h"

namespace convoy::test {

namespace {

/// 14 images of sizes of their own: flat, in class folders, in a folder of a split.
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

double probability(const Rows& rows, std::size_t row, std::size_t column) {
  return std::stod(rows[row][column]);
}

// Expects the same samples. The position of a sample in its micro-batch may change the last bits of a product: a logit
// of a few tens by 1e-5, and its exponential by the same relative amount.
void expect_same_but_for_rounding(const Rows& a, const Rows& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 1; i < a.size(); ++i) {
    ASSERT_EQ(a[i].size(), b[i].size());
    for (const std::size_t text : {0, 1, 2}) EXPECT_EQ(a[i][text], b[i][text]) << i;
    for (std::size_t p = 3; p < a[i].size(); p += 2)
      EXPECT_LE(std::abs(probability(a, i, p) - probability(b, i, p)), 1e-3 * probability(b, i, p)) << i;
  }
}

}  // namespace

TEST_F(FolderPrediction, OfFilesAsTheyLieGivesTheSameBytesOnEveryGrid) {
  const std::string data = "--predict.data=" + folder_;
  const ProcessResult result = predict("1x1.csv", {data});
  ASSERT_EQ(result.status, 0) << result.output;
  EXPECT_EQ(names_in("1x1.csv"), images_);
  const Rows rows = read_rows(directory_ / "1x1.csv");
  EXPECT_EQ(rows[1 + 0][1], "3");  // 3/old/y.png
  EXPECT_EQ(rows[1 + 2][1], "") << rows[1 + 2][0];
  EXPECT_EQ(rows[1 + 13][1], "7") << rows[1 + 13][0];
  // The network knows the classes of three of them.
  EXPECT_TRUE(contains(result.output, "14 samples  top-1 ")) << result.output;
  const std::string csv = read_text(directory_ / "1x1.csv"), h5 = read_text(directory_ / "1x1.h5");
  for (const auto& [stages, replicas] : {std::pair{1, 2}, {2, 1}, {2, 2}}) {
    const std::string name = std::to_string(stages) + "x" + std::to_string(replicas);
    const ProcessResult other = predict(
        name + ".csv", {data, "--grid.stages=" + std::to_string(stages), "--data.loader_threads=3"}, stages * replicas);
    ASSERT_EQ(other.status, 0) << other.output;
    EXPECT_TRUE(read_text(directory_ / (name + ".csv")) == csv) << name;
    EXPECT_TRUE(read_text(directory_ / (name + ".h5")) == h5) << name;
  }
}

TEST_F(FolderPrediction, OfOneFileIsPrintedAndLeavesThePredictionsOfAll) {
  ASSERT_EQ(start("predict", {"--predict.data=" + folder_}).status, 0);
  const std::string csv = read_text(run_ + "/predictions.csv"), h5 = read_text(run_ + "/predictions.h5");
  const std::vector<std::string> one = {"--predict.data=" + folder_ + "/b.png", "--predict.top=3"};
  const ProcessResult printed = start("predict", one, 2);
  ASSERT_EQ(printed.status, 0) << printed.output;
  EXPECT_EQ(read_text(run_ + "/predictions.csv"), csv);
  EXPECT_EQ(read_text(run_ + "/predictions.h5"), h5);
  EXPECT_FALSE(contains(printed.output, "->")) << printed.output;

  const ProcessResult written = predict("one.csv", one);
  ASSERT_EQ(written.status, 0) << written.output;
  const Rows rows = read_rows(directory_ / "one.csv");
  ASSERT_EQ(rows.size(), 2u);
  ASSERT_EQ(rows[1].size(), 2u + 2 * 3);
  EXPECT_EQ(rows[1][0], "b.png");
  std::string classes = folder_ + "/b.png:\n";
  for (const std::size_t k : {2, 4, 6})
    classes += fmt::format("{:8.2f} %  {}\n", 100 * std::stod(rows[1][k + 1]), rows[1][k]);
  for (const ProcessResult& result : {printed, written}) EXPECT_TRUE(contains(result.output, classes)) << result.output;

  const ProcessResult mirrored = start("predict", one + std::vector<std::string>{"--evaluate.mirror=true"});
  EXPECT_EQ(mirrored.status, 0) << mirrored.output;
  EXPECT_TRUE(contains(mirrored.output, " %  ")) << mirrored.output;
  write_text(folder_ + "/bad.png", "no image");
  const ProcessResult bad = start("predict", {"--predict.data=" + folder_ + "/bad.png"});
  EXPECT_EQ(bad.status, 2) << bad.output;
  EXPECT_TRUE(contains(bad.output, "'bad.png': it is neither a JPEG nor a PNG")) << bad.output;
}

TEST_F(FolderPrediction, OfAFolderThatHoldsAFileOfHdf5Too) {
  ASSERT_EQ(predict("all.csv", {"--predict.data=" + folder_}).status, 0);
  ASSERT_EQ(predict("photos/here.csv", {"--predict.data=" + folder_ + "/b.png"}).status, 0);
  const ProcessResult beside =
      predict("beside.csv", {"--predict.data=" + folder_ + "/"});  // here.h5 and here.csv are in it
  ASSERT_EQ(beside.status, 0) << beside.output;
  EXPECT_TRUE(contains(beside.output, "skipped 'here.h5': it is neither a JPEG nor a PNG")) << beside.output;
  expect_same_but_for_rounding(read_rows(directory_ / "beside.csv"), read_rows(directory_ / "all.csv"));
}

TEST_F(FolderPrediction, GivesEachFileWhatItHasAlone) {
  ASSERT_EQ(predict("all.csv", {"--predict.data=" + folder_}).status, 0);
  ASSERT_EQ(predict("many.csv", {"--predict.data=" + folder_ + "/many"}).status, 0);
  Rows all = read_rows(directory_ / "all.csv"), many = read_rows(directory_ / "many.csv");
  ASSERT_EQ(many.size(), 9u);
  std::erase_if(all, [](const auto& row) { return row[0] != "name" && !contains(row[0], "many/"); });
  for (std::size_t i = 1; i < many.size(); ++i) many[i][0] = "many/" + many[i][0], many[i][1] = "many";
  expect_same_but_for_rounding(many, all);
  const double first = probability(many, 1, 5), last = probability(many, 8, 5);  // probability of the second class
  EXPECT_GT(std::abs(first - last), 0.1 * last) << "alike, the test could tell nothing";
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
    const ProcessResult result = predict(name, used, ranks);
    ASSERT_EQ(result.status, 0) << result.output;
    EXPECT_TRUE(contains(result.output, "skipped '3/cut.png': it is damaged: it ends too early")) << result.output;
    EXPECT_TRUE(contains(result.output, "skipped 'notes.txt': it is neither a JPEG nor a PNG")) << result.output;
    EXPECT_TRUE(contains(result.output, "14 samples  top-1 ")) << result.output;
    EXPECT_TRUE(contains(result.output, "; skipped 2 bad images, named above")) << result.output;
    expect_same_but_for_rounding(read_rows(directory_ / name), read_rows(directory_ / "good.csv"));
    EXPECT_TRUE(read_text(directory_ / name) == read_text(directory_ / "0-bad.csv")) << ranks;
    const std::string h5 = read_text(directory_ / (name.substr(0, name.size() - 3) + "h5"));
    EXPECT_TRUE(h5 == read_text(directory_ / "0-bad.h5")) << ranks;
    EXPECT_EQ(h5.size(), read_text(directory_ / "good.h5").size()) << "there is a row that was left out";

    const ProcessResult mirrored =
        predict("mirrored.csv", used + std::vector<std::string>{"--evaluate.mirror=true"}, ranks);
    EXPECT_EQ(mirrored.status, 0) << mirrored.output;
    EXPECT_TRUE(contains(mirrored.output, "; skipped 2 bad images, named above")) << mirrored.output;
    EXPECT_EQ(names_in("mirrored.csv"), names_in("good.csv"));

    const ProcessResult strict = predict("strict.csv", used + std::vector<std::string>{"--predict.strict=true"}, ranks);
    EXPECT_EQ(strict.status, 2) << strict.output;
    EXPECT_TRUE(contains(strict.output,
                         "predict.strict = true: predict.data = " + folder_ + " has a bad image: '3/cut.png': it is "))
        << strict.output;
    for (const std::string left : {"strict.csv", "strict.h5", "strict.csv.partial", "strict.h5.partial"})
      EXPECT_FALSE(std::filesystem::exists(directory_ / left)) << left;
  }
}

// The network's input is 12 x 12, grey; the photographs are larger.
TEST_F(FolderPrediction, OfAnImportOfAnySizeIsThatOfTheFolder) {
  const std::string photos = directory_ / "large";
  write_image_folder(photos);
  const auto import = [&](const std::string& name, const std::vector<std::string>& more) {
    const ProcessResult result = run_program(
        {.arguments = std::vector<std::string>{"import", "--import.source=" + photos,
                                               "--import.output=" + (directory_ / name), "--import.channels=1"} +
                      more});
    EXPECT_EQ(result.status, 0) << result.output;
    return "--predict.data=" + (directory_ / name);
  };
  ASSERT_EQ(predict("folder.csv", {"--predict.data=" + photos + "/test"}).status, 0);
  Rows want = read_rows(directory_ / "folder.csv");
  ASSERT_EQ(want.size(), 1u + 6);
  for (std::size_t i = 1; i < want.size(); ++i) want[i][0] = "test/" + want[i][0];
  ASSERT_EQ(predict("raw.csv", {import("raw", {"--import.size=12"})}).status, 0);
  EXPECT_EQ(read_rows(directory_ / "raw.csv"), want);
  ASSERT_EQ(predict("files.csv", {import("files", {"--import.storage=encoded"})}).status, 0);
  EXPECT_EQ(read_rows(directory_ / "files.csv"), want);

  // Resized twice: other pixels, but of the same pictures.
  const ProcessResult larger = predict("larger.csv", {import("larger", {"--import.size=16"})}, 2);
  ASSERT_EQ(larger.status, 0) << larger.output;
  EXPECT_TRUE(contains(larger.output, "images: 16x16x1, resized to 12x12x1\n")) << larger.output;
  const Rows rows = read_rows(directory_ / "larger.csv");
  ASSERT_EQ(rows.size(), want.size());
  for (std::size_t i = 1; i < rows.size(); ++i) EXPECT_EQ(rows[i][0], want[i][0]);

  const ProcessResult colour = predict("p.csv", {import("colour", {"--import.size=12", "--import.channels=3"})}, 2);
  EXPECT_EQ(colour.status, 2) << colour.output;
  EXPECT_TRUE(contains(colour.output, "predict.data holds colour images (3 channels), but the network of '"))
      << colour.output;
  EXPECT_TRUE(contains(colour.output, "reads grey images (1 channel). Import them with import.channels = 1."))
      << colour.output;
  const ProcessResult unturned =
      predict("p.csv", {"--predict.data=" + (directory_ / "raw"), "--predict.orient=true"}, 2);
  EXPECT_EQ(unturned.status, 2) << unturned.output;
  EXPECT_TRUE(contains(unturned.output, "was imported with import.orient = false")) << unturned.output;
}

TEST_F(FolderPrediction, TurnsFilesAsTheirExifSaysWhereThatIsAskedFor) {
  std::vector<std::uint8_t> bar;  // at the top
  for (int i = 0; i < 24 * 24; ++i) bar.push_back(i < 24 * 6 ? 250 : 10);
  const auto file = make_jpeg({.h = 24, .w = 24, .channels = 1}, bar);
  std::filesystem::create_directories(directory_ / "held");
  write_bytes(directory_ / "held/1.jpg", file);
  write_bytes(directory_ / "held/3.jpg", with_exif(file, make_tiff({.orientation = 3})));
  const std::string data = "--predict.data=" + (directory_ / "held");
  ASSERT_EQ(predict("stored.csv", {data}).status, 0);
  ASSERT_EQ(predict("upright.csv", {data, "--predict.orient=true"}, 2).status, 0);
  const Rows stored = read_rows(directory_ / "stored.csv"), upright = read_rows(directory_ / "upright.csv");
  ASSERT_EQ(stored.size(), 3u);
  EXPECT_NEAR(std::stod(stored[1][3]), std::stod(stored[2][3]), 1e-5) << "the same pixels";
  EXPECT_EQ(upright[1], stored[1]);
  EXPECT_NE(upright[2], stored[2]);
  // A network that was trained on turned pictures gets turned ones without the key, too.
  const std::string path = io::best_checkpoint_path(run_ + "/checkpoints");
  io::Checkpoint checkpoint = io::decode_checkpoint(io::read_file(path), path);
  std::get<io::ImageInput>(checkpoint.metadata.input).orients = true;
  io::write_file_atomically(directory_ / "turned.h5", io::encode_checkpoint(checkpoint));
  const std::string turned = "--init.weights=" + (directory_ / "turned.h5");
  ASSERT_EQ(predict("auto.csv", {data, turned}).status, 0);
  ASSERT_EQ(predict("asked.csv", {data, turned, "--predict.orient=false"}).status, 0);
  EXPECT_EQ(read_rows(directory_ / "auto.csv"), upright);
  EXPECT_EQ(read_rows(directory_ / "asked.csv"), stored);
}

TEST_F(FolderPrediction, OfNothingGoodIsRefused) {
  std::filesystem::create_directories(directory_ / "bad");
  write_text(directory_ / "bad/1.png", "no image");
  const ProcessResult bad = predict("p.csv", {"--predict.data=" + (directory_ / "bad")}, 2);
  EXPECT_EQ(bad.status, 2) << bad.output;
  EXPECT_TRUE(contains(bad.output, "its only image is bad: '1.png': it is neither")) << bad.output;
  std::filesystem::create_directories(directory_ / "empty");
  const ProcessResult empty = predict("p.csv", {"--predict.data=" + (directory_ / "empty")}, 2);
  EXPECT_EQ(empty.status, 2) << empty.output;
  EXPECT_TRUE(contains(empty.output, "it holds neither files of images nor shards of a data set")) << empty.output;
}

}  // namespace convoy::test
