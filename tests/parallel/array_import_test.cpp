/// However many ranks import arrays, the same files appear: those of the same samples in NumPy's and HDF5's files and
/// in tables, with the statistics of the split train; what cannot be imported is refused by name, and leaves nothing.
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "convoy/base/error.h"
#include "convoy/data/import.h"
#include "convoy/io/atomic_file.h"
#include "convoy/io/dataset.h"
#include "convoy/io/inspect.h"
#include "convoy/params/data_parameters.h"

#include "parallel/mpi_main.h"
#include "parallel/shared_directory.h"
#include "unit/io/array_files.h"
#include "unit/io/hdf5_files.h"
#include "unit/io/temporary_directory.h"
#include "unit/messages.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;
using test::bytes_of_numbers;
using test::message_of;
using test::npy;
using test::world;
using Names = std::vector<std::string>;

constexpr int kSamples = 61, kRows = 4, kColumns = 5, kChannels = 3;
constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();

void show_nothing(const ImportProgress&) {}

/// Value of an image at a pixel and channel.
float pixel(int sample, int y, int x, int c) {
  return static_cast<float>((sample * 31 + y * 7 + x * 3 + c * 11) % 97) / 8 - static_cast<float>(c);
}

/// The images with channels first or last.
std::vector<float> images(bool channels_first) {
  std::vector<float> values;
  for (int n = 0; n < kSamples; ++n) {
    if (channels_first) {
      for (int c = 0; c < kChannels; ++c)
        for (int y = 0; y < kRows; ++y)
          for (int x = 0; x < kColumns; ++x) values.push_back(pixel(n, y, x, c));
    } else {
      for (int y = 0; y < kRows; ++y)
        for (int x = 0; x < kColumns; ++x)
          for (int c = 0; c < kChannels; ++c) values.push_back(pixel(n, y, x, c));
    }
  }
  return values;
}

/// Three numbers of a sample.
std::vector<float> position(int sample) {
  return {static_cast<float>(sample) / 4, static_cast<float>(sample % 5), 1.5F};
}

std::vector<float> positions() {
  std::vector<float> values;
  for (int n = 0; n < kSamples; ++n)
    for (const float value : position(n)) values.push_back(value);
  return values;
}

std::vector<std::int64_t> classes() {
  std::vector<std::int64_t> values;
  for (int n = 0; n < kSamples; ++n) values.push_back(n % 3 * 2);
  return values;
}

std::string npy_of_images(bool channels_first) {
  return npy({.shape = channels_first ? "(61, 3, 4, 5)" : "(61, 4, 5, 3)"}, bytes_of_numbers(images(channels_first)));
}
std::string npy_of_positions() {
  return npy({.shape = "(61, 3)"}, bytes_of_numbers(positions()));
}
std::string npy_of_classes() {
  return npy({.descr = "<i8", .shape = "(61,)"}, bytes_of_numbers(classes()));
}

/// A table with the columns name, a, b, c, group, energy, kind.
std::string table(int first = 0, int last = kSamples) {
  std::string text = "name,a,b,c,group,energy,kind\n";
  for (int n = first; n < last; ++n)
    text += fmt::format("sample-{},{},g{},{},{}\n", n, fmt::join(position(n), ","), n % 9, n * 0.5 - 3,
                        n % 3 == 0 ? "red" : "blue");
  return text;
}

class ArrayImport : public testing::Test {
 protected:
  ArrayImport() : alone_(world().split(world().rank(), 0)) {
    params_.output = root_ + "/out";
    params_.replace = true;
  }

  void on_root(const std::function<void()>& work) const {
    world().barrier();
    if (world().rank() == 0) work();
    world().barrier();
  }
  void write(const std::string& name, const std::string& bytes) const {
    on_root([&] { test::write_bytes(root_ + "/" + name, std::as_bytes(std::span(bytes))); });
  }
  ImportSummary import() const { return import_samples(params_, 3, world(), show_nothing); }
  std::string refusal() const {
    const std::string message = message_of<RequestError>([&] { import(); });
    EXPECT_TRUE(!fs::exists(params_.output) || fs::is_empty(params_.output)) << message;
    world().barrier();
    return message;
  }
  io::Dataset open(const std::string& split) const { return {params_.output, "data.train", VerifyKind::kEpoch, split}; }

  std::map<std::string, std::vector<std::byte>> files_of(const std::string& folder) const {
    std::map<std::string, std::vector<std::byte>> files;
    for (const fs::directory_entry& file : fs::directory_iterator(folder))
      files[file.path().filename().string()] = io::read_file(file.path().string());
    return files;
  }
  /// Imports with all ranks, and by rank 0 alone elsewhere: the files must be the same.
  void expect_same_files_by_one_rank() {
    import();
    on_root([&] {
      ImportParams params = params_;
      params.output = root_ + "/alone";
      import_samples(params, 3, alone_, show_nothing);
      EXPECT_TRUE(files_of(params_.output) == files_of(params.output));
      for (const auto& [name, bytes] : files_of(params_.output))
        EXPECT_EQ(io::verify_file(params_.output + "/" + name), std::nullopt) << name;
      fs::remove_all(params.output);
    });
  }

  static std::vector<float> values_of(const io::Dataset& data, std::int64_t sample, std::size_t input = 0) {
    std::vector<std::byte> memory;
    const auto bytes = data.read_array(sample, input, memory);
    std::vector<float> values(bytes.size() / sizeof(float));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  static std::vector<float> image(int sample) {
    const std::vector<float> all = images(false);
    constexpr std::ptrdiff_t kSize = kRows * kColumns * kChannels;
    return {all.begin() + sample * kSize, all.begin() + (sample + 1) * kSize};
  }
  /// The number of the sample, which its name "...:17" ends with.
  static int number_of(const std::string& name) { return std::stoi(name.substr(name.find_last_of(":-") + 1)); }

  /// Expects the mean and the deviation of numbers.
  static void expect_statistics(const std::vector<float>& values, double mean, double stddev) {
    long double sum = 0, squares = 0;
    for (const float value : values) sum += value;
    const long double wanted = sum / static_cast<long double>(values.size());
    for (const float value : values) squares += (value - wanted) * (value - wanted);
    EXPECT_DOUBLE_EQ(mean, static_cast<double>(wanted));
    EXPECT_DOUBLE_EQ(stddev, static_cast<double>(std::sqrt(squares / static_cast<long double>(values.size()))));
  }

  test::SharedDirectory directory_;
  std::string root_ = directory_.path();
  mpi::Communicator alone_;
  ImportParams params_;
};

// --- Formats ---------------------------------------------------------------------------------------------------------

TEST_F(ArrayImport, TwoFilesOfNumpyGiveTheSameFilesOnAnyNumberOfRanks) {
  write("x.npy", npy_of_images(/*channels_first=*/true));
  write("y.npy", npy_of_classes());
  params_.source = root_ + "/x.npy";
  params_.target = "y.npy";
  params_.val_fraction = 0.2;
  params_.test_fraction = 0.1;
  for (const std::int64_t shards : {0, 4}) {
    params_.shards = shards;
    expect_same_files_by_one_rank();
  }
  const io::Dataset train = open("train"), val = open("val"), test = open("test");
  EXPECT_EQ(train.info().num_samples + val.info().num_samples + test.info().num_samples, kSamples);
  EXPECT_EQ(val.info().num_samples, 12);
  EXPECT_EQ(test.info().num_samples, 6);
  EXPECT_EQ(train.info().class_names, (Names{"0", "2", "4"}));
  EXPECT_EQ(val.info().class_counts, (std::vector<std::int64_t>{4, 4, 4}));
  ASSERT_EQ(train.info().arrays.size(), 1u);
  const io::ArrayInfo& array = train.info().arrays.front();
  EXPECT_EQ(io::describe_forms(train.info().arrays), "image float32 (4, 5, 3)");
  std::set<int> seen;
  std::vector<std::vector<float>> of_channels(kChannels);
  for (const io::Dataset* data : {&train, &val, &test}) {
    EXPECT_EQ(data->info().arrays, train.info().arrays) << "statistics are those of train";
    int last = -1;
    for (std::int64_t i = 0; i < data->info().num_samples; ++i) {
      const int number = number_of(data->name(i));
      EXPECT_EQ(data->name(i), fmt::format("x.npy:{}", number));
      EXPECT_GT(number, last);
      last = number;
      EXPECT_TRUE(seen.insert(number).second);
      EXPECT_EQ(values_of(*data, i), image(number));
      EXPECT_EQ(data->label(i), number % 3);
      for (std::size_t k = 0; data == &train && k < image(number).size(); ++k)
        of_channels[k % kChannels].push_back(image(number)[k]);
    }
  }
  for (std::size_t c = 0; c < kChannels; ++c) expect_statistics(of_channels[c], array.mean[c], array.stddev[c]);
  world().barrier();
}

TEST_F(ArrayImport, ArchivesFoldersAndHdf5HaveTheSameSamples) {
  on_root([&] {
    for (const bool deflates : {false, true})
      test::write_zip(root_ + (deflates ? "/packed.npz" : "/all.npz"),
                      {{"x.npy", npy_of_images(false)}, {"p.npy", npy_of_positions()}, {"y.npy", npy_of_classes()}},
                      deflates);
    test::write_hdf5(root_ + "/all.h5", "data/x", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, {kSamples, 4, 5, 3},
                     images(false).data(), /*chunked=*/true);
    test::write_hdf5(root_ + "/all.h5", "p", H5T_IEEE_F32BE, H5T_NATIVE_FLOAT, {kSamples, 3}, positions().data());
    test::write_hdf5(root_ + "/all.h5", "y", H5T_STD_I64LE, H5T_NATIVE_INT64, {kSamples}, classes().data());
  });
  write("folder/x.npy", npy_of_images(false));
  write("folder/p.npy", npy_of_positions());
  write("folder/y.npy", npy_of_classes());
  params_.val_fraction = 0.3;
  std::vector<std::int64_t> hashes;
  const auto check = [&](const std::string& source, const std::string& inputs, const std::string& target) {
    SCOPED_TRACE(source);
    params_.source = root_ + "/" + source;
    params_.inputs = inputs;
    params_.target = target;
    expect_same_files_by_one_rank();
    const io::Dataset train = open("train");
    EXPECT_EQ(io::describe_forms(train.info().arrays), "image float32 (4, 5, 3), position float32 (3)");
    for (std::int64_t i = 0; i < train.info().num_samples; ++i) {
      const int number = number_of(train.name(i));
      EXPECT_EQ(values_of(train, i, 0), image(number));
      EXPECT_EQ(values_of(train, i, 1), position(number));
    }
    hashes.push_back(train.content_hash());
    world().barrier();
  };
  check("all.npz", "image: x, position: p", "y");
  check("packed.npz", "image: x, position: p", "y");
  check("all.h5", "image: /data/x, position: p", "/y");
  check("folder", "image: x.npy, position: p.npy", "y.npy");
  EXPECT_EQ(std::set(hashes.begin(), hashes.end()).size(), 1u) << "the same samples, classes and splits";
}

TEST_F(ArrayImport, TablesHaveInputsTargetsIdsAndGroups) {
  write("t.csv", table());
  params_.source = root_ + "/t.csv";
  params_.inputs = "values: a|b|c";
  params_.target = "energy";
  params_.id = "name";
  params_.group = "group";
  params_.val_fraction = 0.25;
  params_.shards = 3;
  expect_same_files_by_one_rank();
  const io::Dataset train = open("train"), val = open("val");
  EXPECT_EQ(train.info().arrays.front().channel_names, (Names{"a", "b", "c"}));
  EXPECT_EQ(train.info().class_names, (Names{"energy"}));
  EXPECT_EQ(train.info().target.kind, TargetKind::kNumbers);
  EXPECT_EQ(train.info().target, val.info().target);
  std::vector<float> energies;
  std::set<int> groups_of_train, groups_of_val;
  for (const io::Dataset* data : {&train, &val})
    for (std::int64_t i = 0; i < data->info().num_samples; ++i) {
      const int number = number_of(data->name(i));
      EXPECT_EQ(data->name(i), fmt::format("sample-{}", number));
      EXPECT_EQ(values_of(*data, i), position(number));
      float energy = 0;
      data->read_target(i, {&energy, 1});
      EXPECT_EQ(energy, static_cast<float>(number * 0.5 - 3));
      if (data == &train) energies.push_back(energy);
      (data == &train ? groups_of_train : groups_of_val).insert(number % 9);
    }
  expect_statistics(energies, train.info().target.mean[0], train.info().target.stddev[0]);
  for (const int group : groups_of_val) EXPECT_FALSE(groups_of_train.contains(group));
  EXPECT_EQ(groups_of_train.size() + groups_of_val.size(), 9u);
  world().barrier();
}

TEST_F(ArrayImport, AColumnMayBeAClassAndTheOthersAreInputs) {
  write("t.csv", "a,b,kind\n1,2,red\n3,4,blue\n5,6,red\n7,8,blue\n");
  params_.source = root_ + "/t.csv";
  params_.target = "kind";
  const ImportSummary summary = import();
  EXPECT_EQ(summary.splits[0].info.class_names, (Names{"blue", "red"}));
  EXPECT_EQ(io::describe_forms(summary.splits[0].info.arrays), "values float32 (2)");
  EXPECT_EQ(summary.splits[0].info.arrays[0].mean, (std::vector<double>{4, 5}));
  EXPECT_EQ(summary.splits[0].info.class_counts, (std::vector<std::int64_t>{2, 2}));
  EXPECT_EQ(open("train").label(0), 1);
  EXPECT_EQ(open("train").name(3), "t.csv:5");
  if (world().rank() == 0) {
    ASSERT_EQ(summary.notes.size(), 1u);
    EXPECT_CONTAINS(summary.notes[0], "t.csv', column 'kind' is a class of 2 (import.target_kind = class)");
  }
  world().barrier();
}

TEST_F(ArrayImport, LabelsKeepWhatIsNotKnown) {
  write("t.csv", "a,fish,bird\n1,0,1\n2,1,1\n3,,0\n");
  params_.source = root_ + "/t.csv";
  params_.target = "fish|bird";
  const ImportSummary summary = import();
  EXPECT_EQ(summary.splits[0].info.target.kind, TargetKind::kLabels);
  EXPECT_EQ(summary.splits[0].info.class_counts, (std::vector<std::int64_t>{1, 2}));
  const io::Dataset train = open("train");
  std::vector<float> values(2);
  train.read_target(2, values);
  EXPECT_TRUE(std::isnan(values[0]));
  EXPECT_EQ(values[1], 0);
  if (world().rank() == 0) {
    ASSERT_EQ(summary.warnings.size(), 1u);
    EXPECT_CONTAINS(summary.warnings[0], "1 value of labels or numbers is missing");
  }
  params_.target = "fish";
  params_.target_kind = TargetRequest::kLabels;
  params_.bad_values = BadValuesKind::kSkip;
  const ImportSummary skipped = import();
  EXPECT_EQ(skipped.splits[0].info.num_samples, 2);
  if (world().rank() == 0) {
    ASSERT_EQ(skipped.skipped.size(), 1u);
    EXPECT_EQ(skipped.skipped[0].name, "t.csv:4");
    EXPECT_EQ(skipped.skipped[0].reason, "its target is missing");
  }
  world().barrier();
}

TEST_F(ArrayImport, WhatFloat32LosesIsSaid) {
  write("x.npy", npy({.descr = "<f8", .shape = "(3, 2)"}, bytes_of_numbers<double>({1, 0.1, 16'777'217, 2, 3, 4})));
  write("y.npy", npy({.descr = "<f8", .shape = "(3,)"}, bytes_of_numbers<double>({1, 2, 3})));
  params_.source = root_ + "/x.npy";
  params_.target = "y.npy";
  const ImportSummary summary = import();
  EXPECT_EQ(io::describe_forms(summary.splits[0].info.arrays), "values float32 (2)");
  if (world().rank() == 0) {
    ASSERT_EQ(summary.notes.size(), 2u);
    EXPECT_CONTAINS(summary.notes[1], "input 'values': 1 of its values are whole numbers that float32 does not hold");
  }
  write("x.npy", npy({.descr = "<f8", .shape = "(3,)"}, bytes_of_numbers<double>({1, 0.1, 0.3})));
  const ImportSummary fractions = import();
  if (world().rank() == 0) {
    EXPECT_CONTAINS(fractions.notes[1], "float64 is stored as float32; 2 of 3 values changed, by at most 4.0e-08");
  }
  write("x.npy", npy({.descr = "<f8", .shape = "(3,)"}, bytes_of_numbers<double>({1, 0.1, 1e39})));
  on_root([&] { fs::remove_all(params_.output); });
  EXPECT_CONTAINS(refusal(), "x.npy:2: value 0 of the sample is 1e+39, which is beyond float32");
}

TEST_F(ArrayImport, IntegersKeepTheirTypes) {
  write("x.npy", npy({.descr = ">u2", .shape = "(2, 3, 3, 2)"}, std::string(72, '\1')));
  write("y.npy", npy({.descr = "<f4", .shape = "(2,)"}, bytes_of_numbers<float>({1, 2})));
  params_.source = root_ + "/x.npy";
  params_.target = "y.npy";
  EXPECT_EQ(io::describe_forms(import().splits[0].info.arrays), "image uint16 (3, 3, 2)");
  world().barrier();
}

// --- Splits ----------------------------------------------------------------------------------------------------------

TEST_F(ArrayImport, FilesAndFoldersNamedAsSplitsAreSplits) {
  write("tables/train.csv", table(0, 40));
  write("tables/dev.csv", table(40, 50));
  write("tables/test.csv", table(50, 61));
  params_.source = root_ + "/tables";
  params_.inputs = "values: a|b";
  params_.target = "kind";
  expect_same_files_by_one_rank();
  EXPECT_EQ(open("train").info().num_samples, 40);
  EXPECT_EQ(open("val").info().num_samples, 10);
  EXPECT_EQ(open("test").name(0), "test.csv:2");
  params_.group = "group";
  on_root([&] { fs::remove_all(params_.output); });
  EXPECT_CONTAINS(refusal(), "are of one group, 'g6', but in different splits");
  params_.group = "";
  params_.val_fraction = 0.1;
  EXPECT_CONTAINS(refusal(), "the source has a split val already");
  params_.val_fraction = 0;

  write("tables/test.csv", "a,b\n1,2\n");
  EXPECT_EQ(import().splits.size(), 2u) << "a test without targets is left out";
  on_root([&] { fs::remove_all(params_.output); });
  write("tables/dev.csv", "a,b,kind\n1,2,green\n");
  EXPECT_CONTAINS(refusal(), "dev.csv:2: the class 'green' of split val is none of train: 'blue', 'red'");

  for (const std::string split : {"train", "test"}) {
    write("folders/" + split + "/x.npy", npy_of_images(false));
    write("folders/" + split + "/y.npy", npy_of_classes());
  }
  params_.source = root_ + "/folders";
  params_.inputs = "x.npy";
  params_.target = "y.npy";
  EXPECT_EQ(import().splits.size(), 2u);
  world().barrier();
}

TEST_F(ArrayImport, RowsOfListsAreTheSplits) {
  write("t.csv", table());
  write("val.txt", "0\n9\n18\n");
  write("test.npy", npy({.descr = "<i4", .shape = "(2,)"}, bytes_of_numbers<std::int32_t>({60, 1})));
  params_.source = root_ + "/t.csv";
  params_.inputs = "a|b|c";
  params_.target = "kind";
  params_.val_rows = root_ + "/val.txt";
  params_.test_rows = root_ + "/test.npy";
  expect_same_files_by_one_rank();
  EXPECT_EQ(open("val").info().num_samples, 3);
  EXPECT_EQ(open("val").name(1), "t.csv:11");
  EXPECT_EQ(open("test").name(1), "t.csv:62");
  EXPECT_EQ(open("train").info().num_samples, 56);
  on_root([&] { fs::remove_all(params_.output); });
  params_.group = "group";
  EXPECT_CONTAINS(refusal(), "are of one group, 'g6', but in different splits");
  params_.group = "";
  params_.val_fraction = 0.1;
  EXPECT_CONTAINS(refusal(), "import.val_fraction and import.val_rows both say");
  params_.val_fraction = 0;
  params_.test_rows = params_.val_rows;
  EXPECT_CONTAINS(refusal(), "import.val_rows and import.test_rows both have row 0");
}

// --- Bad values ------------------------------------------------------------------------------------------------------

TEST_F(ArrayImport, NotFiniteValuesAreCountedRefusedOrSkipped) {
  std::vector<float> values(20 * 3, 1);
  values[3 * 4 + 1] = kMissing;
  values[3 * 7 + 1] = std::numeric_limits<float>::infinity();
  values[3 * 7 + 2] = kMissing;
  values[3 * 15] = kMissing;
  values[3 * 19 + 1] = kMissing;
  write("x.npy", npy({.shape = "(20, 3)"}, bytes_of_numbers(values)));
  std::vector<std::int64_t> numbers(20);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int64_t>(i % 2);
  write("y.npy", npy({.descr = "<i8", .shape = "(20,)"}, bytes_of_numbers(numbers)));
  params_.source = root_ + "/x.npy";
  params_.target = "y.npy";
  params_.shards = 3;
  EXPECT_EQ(
      refusal(),
      fmt::format("import.source = {}/x.npy: 4 samples cannot be used. NaN or infinite values: 1 of input "
                  "'values', channel 0, 3 of input 'values', channel 1, 1 of input 'values', channel 2. First: "
                  "'x.npy:4': its input 'values', channel 1, is NaN; 'x.npy:7': its input 'values', channel 1, is "
                  "infinite; 'x.npy:15': its input 'values', channel 0, is NaN. Correct them, or leave these "
                  "samples out: import.bad_values = skip",
                  root_));
  params_.bad_values = BadValuesKind::kSkip;
  expect_same_files_by_one_rank();
  const ImportSummary summary = import();
  EXPECT_EQ(summary.splits[0].info.num_samples, 16);
  EXPECT_EQ(summary.splits[0].info.arrays[0].mean, (std::vector<double>{1, 1, 1}));
  if (world().rank() == 0) {
    ASSERT_EQ(summary.skipped.size(), 4u);
    EXPECT_EQ(summary.skipped[1].name, "x.npy:7");
    EXPECT_EQ(summary.skipped[1].reason, "its input 'values', channel 1, is infinite");
  }
  world().barrier();
}

TEST_F(ArrayImport, SamplesWithoutATargetAreBad) {
  write("t.csv", "a,y\n1,red\n2,\n3,blue\n4,red\n");
  params_.source = root_ + "/t.csv";
  params_.target = "y";
  EXPECT_CONTAINS(refusal(), "1 sample cannot be used. First: 't.csv:3': it has no class. Correct them");
  write("t.csv", "a,y\n1,0.5\n2,NA\n3,inf\n4,2\n");
  EXPECT_CONTAINS(refusal(), "'t.csv:3': its target is missing; 't.csv:4': its target is infinite");
  params_.bad_values = BadValuesKind::kSkip;
  const ImportSummary summary = import();
  EXPECT_EQ(summary.splits[0].info.num_samples, 2);
  EXPECT_EQ(summary.splits[0].info.target.mean, (std::vector<double>{1.25}));
  world().barrier();
}

// --- Refusals --------------------------------------------------------------------------------------------------------

TEST_F(ArrayImport, AxesThatAreNotKnownAreRefused) {
  write("y.npy", npy({.descr = "<f4", .shape = "(2,)"}, bytes_of_numbers<float>({1, 2})));
  params_.source = root_ + "/x.npy";
  params_.target = "y.npy";
  write("x.npy", npy({.shape = "(2, 2, 3)"}, std::string(48, '\0')));
  EXPECT_CONTAINS(refusal(),
                  "a sample is (2, 3). Which axis is that of the channels? import.axes = channels_first if "
                  "they are 2 channels of 3 values, channels_last if they are 2 positions of 3 channels, none "
                  "if they are an image of 2 x 3 pixels");
  const auto form_with = [&](AxesKind axes) {
    params_.axes = axes;
    const std::string form = io::describe_forms(import().splits[0].info.arrays);
    on_root([&] { fs::remove_all(params_.output); });
    return form;
  };
  EXPECT_EQ(form_with(AxesKind::kChannelsFirst), "values float32 (3, 2)");
  EXPECT_EQ(form_with(AxesKind::kChannelsLast), "values float32 (2, 3)");
  EXPECT_EQ(form_with(AxesKind::kNone), "image float32 (2, 3, 1)");
  write("x.npy", npy({.shape = "(2, 3, 1, 3)"}, std::string(72, '\0')));
  params_.axes = AxesKind::kAuto;
  EXPECT_CONTAINS(refusal(), "a sample is (3, 1, 3). Which axis is that of the channels?");
  EXPECT_EQ(form_with(AxesKind::kNone), "image float32 (3, 1, 3, 1)");
  write("x.npy", npy({.shape = "(2, 3, 1, 1, 2)"}, std::string(48, '\0')));
  params_.axes = AxesKind::kNone;
  EXPECT_CONTAINS(refusal(), "would give a sample (3, 1, 1, 2) five axes");
  EXPECT_EQ(form_with(AxesKind::kAuto), "image float32 (3, 1, 1, 2)");
}

TEST_F(ArrayImport, DamagedFilesAndRowsAreRefusedWithTheirPlace) {
  const std::string two = npy({.shape = "(2,)"}, std::string(8, '\0'));
  write("y.npy", two);
  write("t.csv", table());
  params_.source = root_ + "/x.npy";
  params_.target = "y.npy";
  const auto refusal_of = [&](const std::string& bytes) {
    write("x.npy", bytes);
    return refusal();
  };
  EXPECT_CONTAINS(refusal_of(two.substr(0, two.size() - 1)), "it is truncated: its float32 (2) need 8 bytes");
  EXPECT_CONTAINS(refusal_of(two + "x"), "it has 1 bytes after its float32 (2)");
  EXPECT_CONTAINS(refusal_of(npy({.shape = "(3,)"}, std::string(12, '\0'))),
                  "x.npy' has 3 samples, but '" + root_ + "/y.npy' has 2 samples");
  EXPECT_CONTAINS(refusal_of(npy({.shape = "(0,)"}, "")), "it has no values");
  EXPECT_CONTAINS(refusal_of(npy({.descr = "|O", .shape = "(2,)"}, "")), "object");
  EXPECT_CONTAINS(refusal_of(npy({.descr = "<c8", .shape = "(1,)"}, std::string(8, '\0'))), "complex");
  EXPECT_CONTAINS(refusal_of(npy({.descr = "<U1", .shape = "(2,)"}, bytes_of_numbers<std::int32_t>({'a', 'b'}))),
                  "x.npy' holds texts, and an input is numbers");
  params_.source = root_ + "/t.csv";
  params_.target = "energy";
  params_.inputs = "values: a|b|c";
  write("t.csv", table(0, 3) + "x,1,2\n");
  EXPECT_CONTAINS(refusal(), "t.csv', line 5: the row has 3 fields, but there are 7 columns");
  write("t.csv", table(0, 3) + "x,1,warm,3,g,5,red\n");
  EXPECT_CONTAINS(refusal(), "t.csv', line 5, column 'b': 'warm' is not a number");
  write("t.csv", "a;b\n1;2\n");
  EXPECT_CONTAINS(refusal(), "another character than its name says");
}

TEST_F(ArrayImport, RequestsThatCannotBeAreRefusedByName) {
  write("t.csv", table());
  write("x.npy", npy_of_images(false));
  params_.source = root_ + "/t.csv";
  params_.format = ImportFormat::kTable;
  EXPECT_CONTAINS(refusal(), "import.target is needed");
  params_.target = "energy";
  EXPECT_CONTAINS(refusal(), "line 2, column 'name': 'sample-0' is not a number");
  params_.inputs = "a|energy";
  EXPECT_CONTAINS(refusal(), "t.csv', column 'energy' is the target, and cannot be an input, too");
  params_.inputs = "A: a";
  EXPECT_CONTAINS(refusal(), "import.inputs: 'A' cannot be the name of an array");
  params_.inputs = "x: a, x: b";
  EXPECT_CONTAINS(refusal(), "two arrays of its samples are called 'x'");
  params_.inputs = "label: a";
  EXPECT_CONTAINS(refusal(), "it is what a network has to answer");
  params_.inputs = "a|b";
  params_.id = "group|name";
  EXPECT_CONTAINS(refusal(), "import.id = group|name: it has 2 values for each sample");
  params_.id = "";
  params_.target = "x.npy";
  EXPECT_CONTAINS(refusal(), "Fields as targets are not possible yet");
  params_.target = "energy";
  params_.size = 16;
  EXPECT_CONTAINS(refusal(), "import.size is for images; '" + root_ + "/t.csv' holds arrays. Leave it out");
  params_.size = 0;
  params_.test_fraction = 0.6;
  params_.val_fraction = 0.4;
  EXPECT_CONTAINS(refusal(), "leave nothing to train");
  params_ = {};
  params_.source = root_ + "/t.csv";
  params_.output = root_ + "/out";
  EXPECT_CONTAINS(refusal(), "If it is a table of numbers, give import.format = table");
  params_.test_fraction = 0.5;
  EXPECT_CONTAINS(refusal(), "import.test_fraction is for arrays and tables of numbers");
}

TEST_F(ArrayImport, OurOwnDataSetsAreNotImportedAgain) {
  write("t.csv", table());
  params_.source = root_ + "/t.csv";
  params_.inputs = "a";
  params_.target = "kind";
  import();
  world().barrier();
  params_.source = params_.output;
  params_.output = root_ + "/again";
  EXPECT_CONTAINS(refusal(), "is a data set that convoy import has made already");
}

}  // namespace
}  // namespace convoy
