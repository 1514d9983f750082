/// However many ranks import arrays, the same files appear: those of the same samples in NumPy's and HDF5's files and
/// in tables, with the statistics of the split train.
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "convoy/params/data_parameters.h"

#include "parallel/array_import_fixture.h"
#include "unit/io/hdf5_files.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;
using test::bytes_of_numbers;
using test::classes;
using test::images;
using test::kChannels;
using test::kSamples;
using test::Names;
using test::npy;
using test::npy_of_classes;
using test::npy_of_images;
using test::npy_of_positions;
using test::position;
using test::positions;
using test::table;
using test::world;

using ArrayImport = test::ArrayImportTest;

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

TEST_F(ArrayImport, FilesOfAFolderAreJoinedInTheOrderOfTheirNames) {
  for (const int part : {2, 1, 0}) {
    const int first = part * 20, last = part == 2 ? kSamples : first + 20;
    write(fmt::format("tables/part-{}.csv", part), table(first, last));
    on_root([&] {
      fs::create_directories(root_ + "/archives");
      std::vector<float> values;
      std::vector<std::int32_t> numbers;
      for (int n = first; n < last; ++n) {
        for (const float value : position(n)) values.push_back(value);
        numbers.push_back(n % 3);
      }
      test::write_zip(
          fmt::format("{}/archives/{}.npz", root_, part),
          {{"x.npy", npy({.shape = fmt::format("({}, 3)", last - first)}, bytes_of_numbers(values))},
           {"y.npy", npy({.descr = "<i4", .shape = fmt::format("({},)", last - first)}, bytes_of_numbers(numbers))}},
          part == 1);
    });
  }
  params_.source = root_ + "/tables";
  params_.inputs = "a|b|c";
  params_.target = "kind";
  params_.id = "name";
  params_.shards = 4;
  const auto check = [&] {
    expect_same_files_by_one_rank();
    const io::Dataset train = open("train");
    ASSERT_EQ(train.info().num_samples, kSamples);
    for (int i = 0; i < kSamples; ++i) EXPECT_EQ(values_of(train, i), position(i));
  };
  check();
  EXPECT_EQ(open("train").name(60), "sample-60");
  params_.source = root_ + "/archives";
  params_.inputs = "values: x";
  params_.target = "y";
  params_.id = "";
  check();
  EXPECT_EQ(open("train").name(60), "2.npz:20");
  world().barrier();
}

TEST_F(ArrayImport, ATableWithoutNamesHasNumberedColumns) {
  write("t.csv", "1,2,0\n3,4,1\n5,6,0\n7,8,1\n");
  params_.source = root_ + "/t.csv";
  params_.target = "column3";
  const ImportSummary summary = import();
  EXPECT_EQ(summary.splits[0].info.arrays[0].channel_names, (Names{"column1", "column2"}));
  EXPECT_EQ(summary.splits[0].info.class_names, (Names{"0", "1"}));
  EXPECT_EQ(open("train").name(0), "t.csv:1");
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

}  // namespace
}  // namespace convoy
