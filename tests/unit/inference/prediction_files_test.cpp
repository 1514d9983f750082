/// The files of predictions for a class, labels and numbers, written out by hand.
#include "inference/prediction_files.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "convoy/base/error.h"
#include "convoy/io/array_reader.h"
#include "convoy/ops/softmax_cross_entropy.h"
#include "convoy/params/parameters.h"

#include "unit/io/temporary_directory.h"
#include "unit/messages.h"

namespace convoy {
namespace {

using test::message_of;

constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();

/// Samples of which only names and targets are known.
class Answers final : public io::SampleStore {
 public:
  explicit Answers(io::DatasetInfo info) : info_(std::move(info)) { info_.num_samples = 3; }

  const io::DatasetInfo& info() const override { return info_; }
  void read_target(std::int64_t sample, std::span<float> values) const override {
    std::ranges::copy(targets.at(static_cast<std::size_t>(sample)), values.begin());
  }
  std::int32_t label(std::int64_t sample) const override {
    return labels.empty() ? ops::kNoLabel : labels.at(static_cast<std::size_t>(sample));
  }
  std::string name(std::int64_t sample) const override { return sample == 2 ? "" : sample == 0 ? "a" : "b,c"; }

  std::vector<std::vector<float>> targets;
  std::vector<std::int32_t> labels;

 private:
  io::DatasetInfo info_;
};

class PredictionFilesTest : public testing::Test {
 protected:
  /// Predicts three samples in two steps; the second sample is bad if `has_bad`.
  void predict(const std::string& name, const io::ModelMetadata& metadata, std::unique_ptr<Answers> answers,
               const std::vector<float>& outputs, bool has_bad = false, const std::vector<std::string>& inputs = {}) {
    params_.predict.output = directory_ / name;
    OpenedSamples samples{.store = std::move(answers), .skipped = {}};
    PredictionFiles files(prediction_paths(params_), samples, metadata, params_, inputs);
    const std::vector<std::uint8_t> bad = {0, static_cast<std::uint8_t>(has_bad ? 1 : 0), 0};
    const std::size_t width = outputs.size() / 3;
    files.append({.first_sample = 0, .outputs = std::span(outputs).first(2 * width), .bad = std::span(bad).first(2)});
    files.append(
        {.first_sample = 2, .outputs = std::span(outputs).subspan(2 * width), .bad = std::span(bad).subspan(2)});
    files.commit();
    top1_ = files.top1();
    num_written_ = files.num_written();
  }
  std::string text(const std::string& name) const { return io::read_text(directory_ / name).value_or(""); }
  std::vector<float> array(const std::string& name, const std::string& form) const {
    const auto reader = io::open_npy(directory_ / name);
    EXPECT_EQ(to_string(reader->form()), form);
    std::vector<float> values(
        static_cast<std::size_t>(reader->form().num_samples() * reader->form().values_of_sample()));
    reader->read(0, reader->form().num_samples(), std::as_writable_bytes(std::span(values)));
    return values;
  }
  static io::ModelMetadata metadata(const Target& target, std::vector<std::string> names) {
    return {.name = "mlp", .input = io::ArraysInput{}, .class_names = std::move(names), .target = target};
  }
  static std::unique_ptr<Answers> answers(const io::ModelMetadata& known) {
    return std::make_unique<Answers>(
        io::DatasetInfo{.kind = input_kinds::kArrays, .class_names = known.class_names, .target = known.target});
  }

  test::TemporaryDirectory directory_;
  Parameters params_;
  std::string top1_;
  std::int64_t num_written_ = 0;
};

const Target kEnergies{
    .kind = TargetKind::kNumbers, .shape = Shape::vectors(1, 2), .mean = {100, 0.1}, .stddev = {10, 2}};

TEST_F(PredictionFilesTest, NumbersAreInTheirOwnUnitsWithTheTrueOnesNextToThem) {
  const io::ModelMetadata network = metadata(kEnergies, {"energy", "gap, eV"});
  auto samples = answers(network);
  samples->targets = {{110, 2.5F}, {90, kUnknown}, {100, 1}};
  predict("p.csv", network, std::move(samples), {1, 1, -1, 0, 0.5F, -1});
  EXPECT_EQ(text("p.csv"),
            "name,energy,\"gap, eV\",true_energy,\"true_gap, eV\"\n"
            "a,110,2.0999999,110,2.5\n"
            "\"b,c\",90,0.100000001,90,\n"
            "2,105,-1.89999998,100,1\n");
  EXPECT_TRUE(io::is_predictions_file(directory_ / "p.h5"));
  EXPECT_EQ(top1_, "");
  EXPECT_EQ(num_written_, 3);
}

TEST_F(PredictionFilesTest, FieldsHaveTheAxesOfTheUsersFiles) {
  Target field{.kind = TargetKind::kNumbers,
               .shape = Shape::images(1, 1, 2, 2),
               .dims = {1, 2, 2},
               .mean = {100, 0},
               .stddev = {10, 2}};
  const std::vector<float> outputs = {1, 1, 2, 2, 0, 0, 0, 0, 3, 3, 4, 4};
  const auto predicted = [&](const std::string& name, const io::ModelMetadata& network) {
    predict(name, network, std::make_unique<Answers>(io::DatasetInfo{.kind = input_kinds::kArrays}), outputs,
            /*has_bad=*/true);
    return name;
  };
  const io::ModelMetadata last = metadata(field, {"u", "v"});
  std::vector<float> values = array(predicted("p.npy", last), "float32 (3, 1, 2, 2)");
  EXPECT_EQ((std::vector<float>(values.begin(), values.begin() + 4)), (std::vector<float>{110, 2, 120, 4}));
  EXPECT_TRUE(std::isnan(values[4]) && std::isnan(values[7])) << "the sample is bad";
  field.channel_axis = ChannelAxis::kFirst;
  const io::ModelMetadata first = metadata(field, {"u", "v"});
  values = array(predicted("p.npy", first), "float32 (3, 2, 1, 2)");
  EXPECT_EQ((std::vector<float>(values.begin() + 8, values.end())), (std::vector<float>{130, 140, 6, 8}));
  predicted("p.h5", first);
  const auto reader = io::open_hdf5(directory_ / "p.h5", "outputs");
  EXPECT_EQ(to_string(reader->form()), "float32 (2, 2, 1, 2)");
  field = {.kind = TargetKind::kNumbers,
           .shape = Shape::images(1, 2, 2, 1),
           .dims = {2, 2, 1},
           .channel_axis = ChannelAxis::kNone};
  array(predicted("p.npy", metadata(field, {"depth"})), "float32 (3, 2, 2)");
}

TEST_F(PredictionFilesTest, TrueFieldsAreWrittenNextToThePredictedOnes) {
  const Target field{.kind = TargetKind::kNumbers,
                     .shape = Shape::images(1, 1, 2, 2),
                     .dims = {1, 2, 2},
                     .channel_axis = ChannelAxis::kFirst,
                     .mean = {100, 0},
                     .stddev = {10, 2}};
  const io::ModelMetadata network = metadata(field, {"u", "v"});
  const auto values_of = [&](const char* name) {
    const auto reader = io::open_hdf5(directory_ / "p.h5", name);
    EXPECT_EQ(to_string(reader->form()), fmt::format("float32 ({}, 2, 1, 2)", num_written_)) << name;
    std::vector<float> values(static_cast<std::size_t>(num_written_ * 4));
    reader->read(0, num_written_, std::as_writable_bytes(std::span(values)));
    return values;
  };
  for (const bool has_bad : {false, true}) {
    auto samples = answers(network);
    samples->targets = {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}};
    predict("p.h5", network, std::move(samples), {1, 1, 2, 2, 0, 0, 0, 0, 3, 3, 4, 4}, has_bad);
    std::vector<float> predicted = {110, 120, 2, 4, 100, 100, 0, 0, 130, 140, 6, 8};
    std::vector<float> known = {1, 3, 2, 4, 5, 7, 6, 8, 9, 11, 10, 12};
    for (std::vector<float>* const all : {&predicted, &known})
      if (has_bad) all->erase(all->begin() + 4, all->begin() + 8);
    EXPECT_EQ(values_of("outputs"), predicted);
    EXPECT_EQ(values_of("targets"), known) << "in their own units, with the axes of the files";
    EXPECT_TRUE(io::is_predictions_file(directory_ / "p.h5"));
  }
}

TEST_F(PredictionFilesTest, FieldsAreNoTables) {
  const Target field{.kind = TargetKind::kNumbers, .shape = Shape::images(1, 3, 2, 1), .dims = {3, 2, 1}};
  const auto paths = [&](const Target& target) {
    return without_table_of_field(prediction_paths(params_), params_, target).describe();
  };
  params_.run.directory = "runs/mine";
  EXPECT_EQ(paths(field), "runs/mine/predictions.h5");
  EXPECT_EQ(paths(kEnergies), "runs/mine/predictions.csv, runs/mine/predictions.h5");
  params_.predict.output = "p.npy";
  EXPECT_EQ(paths(field), "p.npy");
  params_.predict.output = "p.csv";
  EXPECT_EQ(
      message_of<RequestError>([&] { paths(field); }),
      "predict.output = p.csv: the network answers 3 x 2 pixels for each sample, which are no row of a table. Give "
      "a name that ends in .npy or .h5");
}

TEST_F(PredictionFilesTest, NumbersThatNoSampleHasAreLeftOut) {
  const io::ModelMetadata network = metadata(kEnergies, {"energy", "gap"});
  auto samples = std::make_unique<Answers>(io::DatasetInfo{.kind = input_kinds::kArrays});
  predict("p.csv", network, std::move(samples), {1, 1, -1, 0, 0.5F, -1});
  EXPECT_TRUE(text("p.csv").starts_with("name,energy,gap\na,110,2.0999999\n")) << text("p.csv");
}

// Rows of .npy have no names: they stay where they are.
TEST_F(PredictionFilesTest, ABadSampleIsLeftOutOfATableAndIsNaNInNpy) {
  const io::ModelMetadata network = metadata(kEnergies, {"energy", "gap"});
  const auto samples = [&] {
    auto some = answers(network);
    some->targets = {{1, 2}, {3, 4}, {5, 6}};
    return some;
  };
  const std::vector<float> outputs = {1, 1, 7, 7, 0.5F, -1};
  predict("p.csv", network, samples(), outputs, /*has_bad=*/true);
  EXPECT_EQ(text("p.csv"), "name,energy,gap,true_energy,true_gap\na,110,2.0999999,1,2\n2,105,-1.89999998,5,6\n");
  EXPECT_EQ(num_written_, 2);
  predict("p.npy", network, samples(), outputs, /*has_bad=*/true);
  const std::vector<float> values = array("p.npy", "float32 (3, 2)");
  EXPECT_EQ(values[0], 110);
  EXPECT_EQ(values[5], static_cast<float>(0.1 - 2));
  EXPECT_TRUE(std::isnan(values[2]) && std::isnan(values[3]));
  EXPECT_FALSE(std::filesystem::exists(directory_ / "p.h5.partial"));
}

TEST_F(PredictionFilesTest, LabelsAreListedAndHaveTheirProbabilities) {
  const io::ModelMetadata network =
      metadata({.kind = TargetKind::kLabels, .shape = Shape::vectors(1, 2)}, {"rain", "wind"});
  const auto samples = [&] {
    auto some = answers(network);
    some->targets = {{1, 1}, {0, 0}, {0, 1}};
    return some;
  };
  const std::vector<float> outputs = {0, -2, 1, 3, -1, 50};
  predict("p.csv", network, samples(), outputs);
  EXPECT_EQ(text("p.csv"),
            "name,labels,predicted,p_rain,p_wind\n"
            "a,rain|wind,,0.5,0.119203\n"
            "\"b,c\",,rain|wind,0.731059,0.952574\n"
            "2,wind,wind,0.268941,1\n");
  predict("p.npy", network, samples(), outputs);
  EXPECT_EQ(array("p.npy", "float32 (3, 2)")[3], static_cast<float>(1 / (1 + std::exp(-3.0))));
}

TEST_F(PredictionFilesTest, ClassesAreTheMostProbableOnes) {
  const io::ModelMetadata network = metadata({}, {"cat", "owl", "ant"});
  const auto samples = [&] {
    auto some = answers(network);
    some->labels = {1, ops::kNoLabel, 0};
    return some;
  };
  params_.predict.top = 2;
  const std::vector<float> outputs = {0, std::log(2.0F), 0, 0, 0, 0, -1, -1, 5};
  predict("p.csv", network, samples(), outputs);
  EXPECT_TRUE(
      text("p.csv").starts_with("name,label,class,p1,class2,p2\na,owl,owl,0.5,cat,0.25\n\"b,c\",,cat,0.333333,"))
      << text("p.csv");
  EXPECT_EQ(top1_, "  top-1 50.00 %");
  predict("p.npy", network, samples(), outputs);
  EXPECT_EQ(array("p.npy", "float32 (3, 3)")[1], 0.5F);
}

TEST_F(PredictionFilesTest, OnlyEarlierPredictionsAreReplaced) {
  const io::ModelMetadata network = metadata(kEnergies, {"energy", "gap"});
  const std::vector<float> outputs(6);
  const auto refusal = [&](const std::string& name, const std::vector<std::string>& inputs = {}) {
    return message_of<RequestError>([&] {
      predict(name, network, std::make_unique<Answers>(io::DatasetInfo{.kind = input_kinds::kArrays}), outputs, false,
              inputs);
    });
  };
  for (const std::string name : {"p.csv", "p.h5", "p.npy"}) {
    EXPECT_EQ(refusal(name), test::kNothingThrown);
    EXPECT_EQ(refusal(name), test::kNothingThrown) << "its own, again";
  }
  auto known = answers(network);
  known->targets = {{1, 2}, {3, 4}, {5, 6}};
  predict("p.csv", network, std::move(known), outputs);
  EXPECT_TRUE(text("p.csv").starts_with("name,energy,gap,true_energy,true_gap\n")) << text("p.csv");
  EXPECT_EQ(refusal("p.csv"), test::kNothingThrown) << "its own, with the true numbers";
  EXPECT_CONTAINS(refusal("p.npy", {directory_ / "p.npy"}), "is read by this command, and would be overwritten");
  // A user's targets, whose columns are the same.
  io::write_text_atomically(directory_ / "y.csv", "name,energy,gap\na,1,2\n");
  EXPECT_CONTAINS(refusal("y.csv"), "exists and does not hold predictions of convoy");
  io::write_text_atomically(directory_ / "y.npy", std::string("\x93NUMPY\x01\x00\x76\x00{'descr'", 18));
  EXPECT_CONTAINS(refusal("y.npy"), "exists and does not hold predictions of convoy");
  EXPECT_CONTAINS(refusal("p.txt"), "must end in .csv (the outputs go to a .h5 file next to it), .h5 or .npy.");
}

}  // namespace
}  // namespace convoy
