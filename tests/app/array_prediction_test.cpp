/// Predictions of numbers: the same files on any grid, from data sets and from users' own files, and what each rank
/// tells of its part.
#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "convoy/io/array_reader.h"
#include "convoy/io/dataset.h"

#include "app/prediction.h"
#include "app/program.h"
#include "app/small_arrays.h"
#include "unit/io/array_files.h"
#include "unit/io/temporary_directory.h"
#include "unit/messages.h"

namespace convoy::test {

namespace {

class ArrayPrediction : public testing::Test {
 protected:
  void train(const std::vector<std::string>& arguments) {
    const ProcessResult result = run_program(
        {.arguments = arguments + std::vector<std::string>{"--train.max_steps=10", "--run.directory=" + run_}});
    ASSERT_EQ(result.status, 0) << result.output;
    EXPECT_CONTAINS(result.output, "RMSE ");
  }
  ProcessResult start(const std::string& command, const std::vector<std::string>& more, int ranks = 0) const {
    return run_program({.arguments = std::vector<std::string>{command, run_} + more, .ranks = ranks});
  }
  ProcessResult predict(const std::string& name, const std::vector<std::string>& more = {}, int ranks = 0) const {
    ProcessResult result =
        start("predict", more + std::vector<std::string>{"--predict.output=" + (directory_ / name)}, ranks);
    EXPECT_EQ(result.status, 0) << result.output;
    return result;
  }
  std::string text(const std::string& name) const { return read_text(directory_ / name); }

  WorkingDirectory directory_;
  std::string run_ = directory_ / "run";
};

// The sample of a text about several GPUs: 3 samples of 32 numbers each, a network of two layers, 64 numbers.
constexpr const char* kTwoLayers = R"(network{reads = "arrays"}
local x = cell("layer1", function() return relu(linear("fc", feature("values"), 48)) end)
return cell("layer2", function(x) return logits("fc", x, num_classes) end, x)
)";

}  // namespace

TEST_F(ArrayPrediction, NumbersHaveTheSameBytesOnEveryGridAndTheErrorsThatEvaluateMeasures) {
  train(write_small_numbers(directory_ / "small"));
  for (const std::string end : {".csv", ".npy"}) predict("1x1" + end);
  for (const auto& [stages, replicas] : {std::pair{1, 2}, {2, 1}, {2, 2}, {3, 1}}) {
    const std::string name = fmt::format("{}x{}", stages, replicas);
    for (const std::string end : {".csv", ".npy"})
      predict(name + end, {fmt::format("--grid.stages={}", stages)}, stages * replicas);
    for (const std::string end : {".csv", ".h5", ".npy"})
      EXPECT_TRUE(text(name + end) == text("1x1" + end)) << name << end;
  }
  const Rows rows = read_rows(directory_ / "1x1.csv");
  ASSERT_EQ(rows.size(), 97U);
  const ProcessResult evaluated = start("evaluate", {"--evaluate.confusion=true"}, 2);
  ASSERT_EQ(evaluated.status, 0) << evaluated.output;
  const Rows errors = read_rows(run_ + "/targets.csv");
  for (std::size_t k = 0; k < 2; ++k) {
    EXPECT_EQ(rows[0][3 + k], "true_" + rows[0][1 + k]);
    double squares = 0;
    for (std::size_t i = 1; i < rows.size(); ++i)
      squares += std::pow(std::stod(rows[i][1 + k]) - std::stod(rows[i][3 + k]), 2);
    EXPECT_EQ(errors[1 + k][0], rows[0][1 + k]);
    EXPECT_NEAR(std::stod(errors[1 + k][2]), std::sqrt(squares / 96), 1e-7 * std::sqrt(squares / 96));
  }
}

TEST_F(ArrayPrediction, FieldsHaveTheSameBytesOnEveryGridAndTheErrorsThatEvaluateMeasures) {
  train(write_small_fields(directory_ / "small"));
  const ProcessResult first = predict("1x1.npy");
  EXPECT_CONTAINS(first.output, ": 96 samples  RMSE ");
  predict("1x1.h5");
  for (const auto& [stages, replicas] : {std::pair{1, 2}, {2, 1}, {2, 2}, {3, 1}}) {
    const std::string name = fmt::format("{}x{}", stages, replicas);
    for (const std::string end : {".h5", ".npy"}) {
      predict(name + end, {fmt::format("--grid.stages={}", stages)}, stages * replicas);
      EXPECT_TRUE(text(name + end) == text("1x1" + end)) << name << end;
    }
  }
  const auto reader = io::open_npy(directory_ / "1x1.npy");
  ASSERT_EQ(to_string(reader->form()), "float32 (96, 2, 8, 8)") << "as in the files that were imported";
  std::vector<float> predicted(std::size_t{96} * 128), target(128);
  reader->read(0, 96, std::as_writable_bytes(std::span(predicted)));
  const std::vector<float> known = read_numbers<float>(*io::open_hdf5(directory_ / "1x1.h5", "targets"), 0, 96);
  const io::Dataset test(directory_ / "small/test", "data.test");
  double squares[2] = {}, counts[2] = {};
  for (std::int64_t i = 0; i < 96; ++i) {
    test.read_target(i, target);
    for (std::size_t p = 0; p < 64; ++p)
      for (std::size_t k = 0; k < 2; ++k) {
        const std::size_t place = static_cast<std::size_t>(i) * 128 + k * 64 + p;
        EXPECT_TRUE(known[place] == target[2 * p + k] || (std::isnan(known[place]) && std::isnan(target[2 * p + k])));
        if (std::isnan(target[2 * p + k])) continue;
        const double y = predicted[place];
        squares[k] += (y - target[2 * p + k]) * (y - target[2 * p + k]);
        ++counts[k];
      }
  }
  const ProcessResult evaluated = start("evaluate", {"--evaluate.confusion=true"}, 2);
  ASSERT_EQ(evaluated.status, 0) << evaluated.output;
  const Rows errors = read_rows(run_ + "/targets.csv");
  EXPECT_EQ(counts[1], 96 * 56) << "the last row of pixels has no slope";
  for (std::size_t k = 0; k < 2; ++k) {
    EXPECT_EQ(std::stod(errors[1 + k][1]), counts[k]);
    EXPECT_NEAR(std::stod(errors[1 + k][2]), std::sqrt(squares[k] / counts[k]),
                1e-7 * std::sqrt(squares[k] / counts[k]));
  }
  const ProcessResult table = start("predict", {"--predict.output=" + (directory_ / "p.csv")});
  EXPECT_EQ(table.status, 2);
  EXPECT_CONTAINS(table.output, "the network answers 8 x 8 pixels for each sample, which are no row of a table");
}

// As in input/arrays.md: an import, a training, and predictions of the user's own files with their true fields.
TEST_F(ArrayPrediction, FieldsOfAUsersFilesAreImportedLearntAndPredicted) {
  constexpr std::size_t kCount = 80, kPixels = 36;
  std::vector<float> images(kCount * kPixels), fields(2 * images.size());
  for (std::size_t i = 0; i < images.size(); ++i) images[i] = static_cast<float>(i * 37 % 101) / 50 - 1;
  for (std::size_t n = 0; n < kCount; ++n)
    for (std::size_t p = 0; p < kPixels; ++p) {
      const float x = images[n * kPixels + p];
      fields[2 * n * kPixels + p] = 3 * x;
      fields[(2 * n + 1) * kPixels + p] = 1000 - x;
    }
  write_text(directory_ / "x.npy", npy({.shape = "(80, 6, 6)"}, bytes_of_numbers(images)));
  write_text(directory_ / "y.npy", npy({.shape = "(80, 2, 6, 6)"}, bytes_of_numbers(fields)));
  const ProcessResult imported = run_program(
      {.arguments = {"import", "--import.source=" + (directory_ / "x.npy"), "--import.target=y.npy",
                     "--import.axes=none", "--import.test_fraction=0.2", "--import.output=" + (directory_ / "data")}});
  ASSERT_EQ(imported.status, 0) << imported.output;
  EXPECT_CONTAINS(imported.output,
                  "train: 64 samples of image float32 (6, 6, 1), target float32 (6, 6, 2), 2 numbers at each of 6 x 6 "
                  "pixels -> ");
  const ProcessResult told = run_program({.arguments = {"info", directory_ / "data"}});
  EXPECT_CONTAINS(told.output, "2 at each of 6 x 6 pixels: y_0, y_1");
  train({"train", "--data.train=" + (directory_ / "data"), "--data.test=" + (directory_ / "data"),
         std::string("--model.file=" CONVOY_TEST_FILES "/golden/field.lua"), "--batch.global=32", "--batch.micro=8",
         "--optimizer.lr=0.1", "--run.threads=1", "--run.device=cpu"});
  const std::vector<std::string> own = {"--predict.data=" + (directory_ / "x.npy"), "--import.target=y.npy",
                                        "--import.axes=none"};
  const ProcessResult one = predict("own.npy", own);
  EXPECT_CONTAINS(one.output, ": 80 samples  RMSE ");
  EXPECT_EQ(predict("two.npy", own + std::vector<std::string>{"--grid.stages=2"}, 2).status, 0);
  EXPECT_TRUE(text("own.npy") == text("two.npy"));
  EXPECT_EQ(to_string(io::open_npy(directory_ / "own.npy")->form()), "float32 (80, 2, 6, 6)");
  predict("blind.npy", {"--predict.data=" + (directory_ / "x.npy"), "--import.axes=none"});
  EXPECT_TRUE(text("own.npy") == text("blind.npy")) << "true fields do not change the predicted ones";
}

// New files have the arrays where the imported file had them: no key is needed.
TEST_F(ArrayPrediction, AFileLikeTheImportedOneIsPredictedWithItsTrueFields) {
  constexpr std::size_t kCount = 40, kPixels = 36;
  std::vector<float> patches(kCount * kPixels), flow(2 * patches.size());
  for (std::size_t i = 0; i < patches.size(); ++i) patches[i] = static_cast<float>(i * 37 % 101) / 50 - 1;
  for (std::size_t i = 0; i < flow.size(); ++i) flow[i] = static_cast<float>(i * 29 % 97);
  const std::string names = npy({.descr = "<U2", .shape = "(40,)"}, std::string(kCount * 8, '\0'));
  const auto write = [&](const std::string& name) {
    write_zip(directory_ / name,
              {{"flow.npy", npy({.shape = "(40, 2, 6, 6)"}, bytes_of_numbers(flow))},
               {"patches.npy", npy({.shape = "(40, 1, 6, 6)"}, bytes_of_numbers(patches))},
               {"names.npy", names}},
              /*deflates=*/true);
  };
  write("all.npz");
  const ProcessResult imported =
      run_program({.arguments = {"import", "--import.source=" + (directory_ / "all.npz"), "--import.inputs=patches",
                                 "--import.target=flow", "--import.axes=channels_first", "--import.test_fraction=0.2",
                                 "--import.output=" + (directory_ / "data")}});
  ASSERT_EQ(imported.status, 0) << imported.output;
  train({"train", "--data.train=" + (directory_ / "data"), "--data.test=" + (directory_ / "data"),
         std::string("--model.file=" CONVOY_TEST_FILES "/golden/field.lua"), "--batch.global=32", "--batch.micro=8",
         "--optimizer.lr=0.01", "--run.threads=1", "--run.device=cpu"});
  flow.front() = NAN;
  write("new.npz");
  const ProcessResult own = predict("own.h5", {"--predict.data=" + (directory_ / "new.npz")});
  EXPECT_CONTAINS(own.output, ": 40 samples  RMSE ");
  const auto targets = io::open_hdf5(directory_ / "own.h5", "targets");
  ASSERT_EQ(to_string(targets->form()), "float32 (40, 2, 6, 6)");
  const std::vector<float> known = read_numbers<float>(*targets, 0, 40);
  EXPECT_TRUE(std::isnan(known.front()));
  EXPECT_TRUE(std::equal(known.begin() + 1, known.end(), flow.begin() + 1));
  predict("two.h5", {"--predict.data=" + (directory_ / "new.npz"), "--grid.stages=2"}, 2);
  EXPECT_TRUE(text("own.h5") == text("two.h5"));
}

TEST_F(ArrayPrediction, FilesOfAUserNeedNoImportAndEachRankTellsItsPart) {
  std::string table = "sample";
  for (int c = 0; c < 32; ++c) table += fmt::format(",x{}", c);
  for (int k = 0; k < 64; ++k) table += fmt::format(",y{}", k);
  table += "\n";
  for (int i = 0; i < 67; ++i) {
    table += fmt::format("s{}", i);
    for (int c = 0; c < 96; ++c) table += fmt::format(",{}", (i * 31 + c * 17) % 23 / 4.0);
    table += "\n";
  }
  write_text(directory_ / "all.csv", table);
  const ProcessResult imported =
      run_program({.arguments = {"import", "--import.source=" + (directory_ / "all.csv"), "--import.inputs=values: x*",
                                 "--import.target=y*", "--import.id=sample", "--import.test_fraction=0.04",
                                 "--import.output=" + (directory_ / "data")}});
  ASSERT_EQ(imported.status, 0) << imported.output;
  write_text(directory_ / "two.lua", kTwoLayers);
  train({"train", "--data.train=" + (directory_ / "data"), "--data.test=" + (directory_ / "data"),
         "--model.file=" + (directory_ / "two.lua"), "--batch.global=32", "--batch.micro=8", "--optimizer.lr=0.01",
         "--run.threads=1", "--run.device=cpu"});

  predict("imported.csv", {"--predict.data=" + (directory_ / "data/train")});
  const std::vector<std::string> own = {"--predict.data=" + (directory_ / "all.csv"), "--import.id=sample"};
  predict("own.csv", own);
  const Rows imported_rows = read_rows(directory_ / "imported.csv"), rows = read_rows(directory_ / "own.csv");
  ASSERT_EQ(rows.size(), 68U);
  EXPECT_EQ(rows[0], imported_rows[0]) << "the true numbers are found by their names";
  for (std::size_t i = 1; i < imported_rows.size(); ++i) {
    const auto& row = imported_rows[i];
    const auto found = std::ranges::find(rows, row[0], [](const auto& other) { return other[0]; });
    ASSERT_NE(found, rows.end()) << row[0];
    // Products may be rounded otherwise at another place of a micro-batch.
    for (std::size_t c = 1; c <= 64; ++c) EXPECT_NEAR(std::stod(row[c]), std::stod((*found)[c]), 1e-5) << row[0];
    EXPECT_TRUE(std::equal(row.begin() + 65, row.end(), found->begin() + 65)) << row[0];
  }

  const ProcessResult one = predict("one.npy", own + std::vector<std::string>{"--predict.explain=true"});
  EXPECT_CONTAINS(one.output,
                  ": replica 0, cells layer1 .. layer2: samples 0 to 66 (counted from 0), in micro-batches of 8: "
                  "values (8, 32), output "
                  "(8, 64)\n");
  const ProcessResult two = predict("two.npy", own + std::vector<std::string>{"--predict.explain=true"}, 2);
  EXPECT_CONTAINS(two.output,
                  "replica 0, cells layer1 .. layer2: samples 0 to 15, 32 to 47, 64 to 66 (counted from 0), in ");
  EXPECT_CONTAINS(two.output, "replica 1, cells layer1 .. layer2: samples 16 to 31, 48 to 63 (counted from 0), in ");
  const ProcessResult stages =
      predict("stages.npy", own + std::vector<std::string>{"--predict.explain=true", "--grid.stages=2"}, 2);
  EXPECT_CONTAINS(
      stages.output,
      "cells layer1: samples 0 to 66 (counted from 0), in micro-batches of 8: values (8, 32), output (8, 48)");
  EXPECT_CONTAINS(
      stages.output,
      "cells layer2: samples 0 to 66 (counted from 0), in micro-batches of 8: input (8, 48), output (8, 64)");
  EXPECT_TRUE(text("one.npy") == text("two.npy") && text("one.npy") == text("stages.npy"));
}

TEST_F(ArrayPrediction, ASampleWithABadValueIsNamedAndSkipped) {
  train(write_small_rows(directory_ / "small"));
  std::vector<float> values(3 * 3 * 32, 0.5F);
  values[96 + 5] = NAN;
  const std::string path = directory_ / "new.npy";
  write_text(path, npy({.shape = "(3, 3, 32)"}, bytes_of_numbers(values)));
  for (const int ranks : {1, 2}) {
    const ProcessResult result =
        predict("p.npy", {"--predict.data=" + path, fmt::format("--grid.stages={}", ranks)}, ranks);
    EXPECT_CONTAINS(result.output, "skipped 'new.npy:1': its value 5 of 'values' is NaN or infinite (new.npy:1)");
    EXPECT_CONTAINS(result.output, ": 2 samples  (");
    EXPECT_CONTAINS(result.output, "; skipped 1 bad sample, named above");
  }
  const ProcessResult strict = start("predict", {"--predict.data=" + path, "--predict.strict=true"});
  EXPECT_EQ(strict.status, 2);
  EXPECT_CONTAINS(strict.output, "predict.strict = true: predict.data = " + path + " has a bad sample: 'new.npy:1'");
}

TEST_F(ArrayPrediction, OfFramesOfAFilmIsRefused) {
  train(write_small_rows(directory_ / "small"));
  const ProcessResult result = start("predict", {"--predict.data=-", "--predict.frames=4x4"}, 2);
  EXPECT_EQ(result.status, 2) << result.output;
  EXPECT_CONTAINS(result.output, "predict.data = - reads the frames of a film, but the network of ");
  EXPECT_CONTAINS(result.output, " reads arrays. Give a network that was trained on images");
}

}  // namespace convoy::test
