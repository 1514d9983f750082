/// What cannot be imported of arrays is refused by name on every rank, and leaves nothing; bad values are counted.
#include <limits>

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
using test::kMissing;
using test::kSamples;
using test::npy;
using test::npy_of_images;
using test::positions;
using test::table;
using test::world;

using ArrayRefusals = test::ArrayImportTest;

// --- Bad values ------------------------------------------------------------------------------------------------------

TEST_F(ArrayRefusals, NotFiniteValuesAreCountedRefusedOrSkipped) {
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
    ASSERT_EQ(summary.warnings.size(), 2u);
    EXPECT_CONTAINS(summary.warnings[0], "1 of input 'values', channel 0, 3 of input 'values', channel 1, 1 of input");
    EXPECT_CONTAINS(summary.warnings[0], "The samples with them are left out");
    EXPECT_CONTAINS(summary.warnings[1],
                    "all samples of train have the same value of input 'values', channel 0, input");
  }
  world().barrier();
}

TEST_F(ArrayRefusals, SamplesWithoutATargetAreBad) {
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

// Means are over the values that there are; an infinite value has no remedy.
TEST_F(ArrayRefusals, MissingInputsMayBecomeMeans) {
  params_.source = root_ + "/t.csv";
  params_.target = "y";
  params_.bad_values = BadValuesKind::kMean;
  write("t.csv", "a,b,y\n1,5,0.5\ninf,7,1\n3,1,2\n");
  EXPECT_CONTAINS(refusal(), "'t.csv:3': its input 'values', channel 'a', is infinite");
  write("t.csv", "a,b,y\n1,NA,0.5\n2,NA,1\n");
  EXPECT_CONTAINS(refusal(), "no sample of split train has a value of input 'values', channel 'b'. Leave it out");
  write("t.csv", "a,b,y\n1,5,0.5\nNA,7,1\n3,,2\n8,9,3\n,6,4\n");
  params_.shards = 3;
  expect_same_files_by_one_rank();
  const io::DatasetInfo info = import().splits[0].info;
  EXPECT_EQ(info.num_samples, 5);
  EXPECT_EQ(info.arrays[0].mean, (std::vector<double>{4, 6.75}));
  EXPECT_TRUE(open("train").info().arrays[0].fills_missing);
  world().barrier();
}

// A split whose targets are others than those of train must not be measured.
TEST_F(ArrayRefusals, TargetsOfEachSplitAreThoseOfTrain) {
  const auto write_splits = [&](const std::string& train, const std::string& val) {
    write("split/train.csv", train);
    write("split/val.csv", val);
  };
  params_.source = root_ + "/split";
  params_.inputs = "a";
  params_.target = "y*";
  params_.target_kind = TargetRequest::kNumbers;
  write_splits("a,y1,y2\n1,2,3.5\n4,5,6\n", "a,y2,y1\n1,2,3.5\n");
  EXPECT_CONTAINS(refusal(), "are y2, y1, but y1, y2 were expected. Give them in this order");
  write_splits("a,y1,y2\n1,2,3.5\n4,5,6\n", "a,y1\n1,2\n");
  EXPECT_CONTAINS(refusal(), "has 1 value for each sample, but 2 numbers were expected: y1, y2");
  write_splits("a,y1,y2\n1,2,3.5\n4,5,6\n", "a,y1,y2,y3\n1,2,3,4\n");
  EXPECT_CONTAINS(refusal(), "has 3 values for each sample, but 2 numbers were expected: y1, y2");
  on_root([&] { std::filesystem::remove_all(root_ + "/split"); });
  params_.inputs = "x.npy";
  params_.target = "y.npy";
  for (const char* const split : {"train", "val"}) {
    write(fmt::format("split/{}/x.npy", split), npy({.shape = "(2, 1)"}, bytes_of_numbers<float>({1, 2})));
    write(fmt::format("split/{}/y.npy", split), npy({.shape = "(2,)"}, bytes_of_numbers<float>({1, 0.5})));
  }
  write("split/val/y.npy", npy({.descr = "<U1", .shape = "(2,)"}, std::string(8, 'a')));
  EXPECT_CONTAINS(refusal(), "holds texts, but numbers were expected");
}

// The word NA is a missing class where classes are numbers, in every split.
TEST_F(ArrayRefusals, AMissingClassIsOneInEverySplit) {
  write("split/train.csv", "a,y\n1,0\n2,1\n3,NA\n4,1\n");
  write("split/val.csv", "a,y\n1,0\n2,NA\n3,1\n");
  params_.source = root_ + "/split";
  params_.target = "y";
  params_.bad_values = BadValuesKind::kSkip;
  const ImportSummary summary = import();
  EXPECT_EQ(summary.splits[0].info.num_samples, 3);
  EXPECT_EQ(summary.splits[1].info.num_samples, 2);
  world().barrier();
}

// --- Refusals --------------------------------------------------------------------------------------------------------

TEST_F(ArrayRefusals, AxesThatAreNotKnownAreRefused) {
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
    std::string form = io::describe_forms(import().splits[0].info.arrays);
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

TEST_F(ArrayRefusals, DamagedFilesAndRowsAreRefusedWithTheirPlace) {
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

TEST_F(ArrayRefusals, RequestsThatCannotBeAreRefusedByName) {
  write("t.csv", table());
  write("x.npy", npy_of_images(false));
  params_.source = root_ + "/t.csv";
  params_.format = ImportFormat::kTable;
  EXPECT_CONTAINS(refusal(), "import.target is needed");
  params_.target = "energy";
  EXPECT_CONTAINS(refusal(),
                  "has columns of texts: 'name' (sample-0), 'group' (g0), 'kind' (red). A network reads numbers.");
  EXPECT_CONTAINS(refusal(), "with import.inputs = \"-name|-group|-kind\", or give one as import.id or import.group");
  params_.inputs = "a|energy";
  EXPECT_CONTAINS(refusal(), "t.csv', column 'energy' is the target, and cannot be an input, too");
  params_.inputs = "A: a";
  EXPECT_CONTAINS(refusal(), "import.inputs: 'A' cannot be the name of an array");
  params_.inputs = "x: a, x: b";
  EXPECT_CONTAINS(refusal(), "two arrays of its samples are called 'x'");
  params_.inputs = "x0: a";
  for (int i = 1; i < 65; ++i) params_.inputs += fmt::format(", x{}: a", i);
  EXPECT_CONTAINS(refusal(), "import.inputs: a sample has 65 arrays. Allowed: 1 to 64");
  params_.inputs = "label: a";
  EXPECT_CONTAINS(refusal(), "it is what a network has to answer");
  params_.inputs = "a|b";
  params_.id = "group|name";
  EXPECT_CONTAINS(refusal(), "import.id = group|name: it has 2 values for each sample");
  params_.id = "name";
  write("t.csv", "name,a,y\n" + std::string(300, 'x') + ",1,2.5\nshort,1,3.5\n");
  params_.inputs = "a";
  params_.target = "y";
  EXPECT_CONTAINS(refusal(), "import.id: t.csv:2 has a name of 300 bytes. Allowed: up to 255");
  write("t.csv", table());
  params_.inputs = "a|b";
  params_.id = "";
  params_.target = "x.npy";
  params_.target_kind = TargetRequest::kLabels;
  EXPECT_CONTAINS(refusal(), "has the shape (4, 5, 3), a class or labels at each pixel. This is not possible yet");
  params_.target_kind = TargetRequest::kAuto;
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
  EXPECT_CONTAINS(refusal(), "import.test_fraction is for arrays");
}

TEST_F(ArrayRefusals, NamesThatAreNotThereAreAnsweredWithThoseThatAre) {
  on_root([&] {
    test::write_hdf5(root_ + "/all.h5", "data/patches", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, {kSamples, 3},
                     positions().data());
    test::write_hdf5(root_ + "/all.h5", "data/label", H5T_STD_I64LE, H5T_NATIVE_INT64, {kSamples}, classes().data());
  });
  write("x.npy", npy({.shape = "(2, 3)"}, std::string(24, '\0')));
  params_.source = root_ + "/x.npy";
  params_.target = "y.npy";
  EXPECT_CONTAINS(refusal(),
                  "import.target = y.npy: there is no such file. The folder '" + root_ + "' has: all.h5, x.npy");
  params_.source = root_ + "/all.h5";
  params_.target = "/data/labels";
  EXPECT_CONTAINS(refusal(), "has no array of this name. It has: data/label, data/patches. Nearest: data/label");
  params_.target = "/data/label";
  params_.inputs = "values: data/patch";
  EXPECT_CONTAINS(refusal(), "import.inputs = data/patch: there is no such file");
  params_.inputs = "";
  EXPECT_EQ(io::describe_forms(import().splits[0].info.arrays), "values float32 (3)");
  world().barrier();
}

TEST_F(ArrayRefusals, OurOwnDataSetsAreNotImportedAgain) {
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
