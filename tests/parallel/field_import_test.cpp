/// However many ranks import targets with pixels, or long rows of numbers, the same files appear, with the values of
/// the user's files at each pixel.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "convoy/params/data_parameters.h"

#include "parallel/array_import_fixture.h"

namespace convoy::test {
namespace {

using FieldImport = ArrayImportTest;

// The image with its channels last, a field with them first in float64, and a field without such an axis.
TEST_F(FieldImport, FieldsHaveThePixelsOfTheImagesAndStatisticsOfTheirChannels) {
  write("x.npy", npy_of_images(false));
  std::vector<double> field;
  std::vector<float> channels[kChannels], depth;
  for (const float value : images(true)) field.push_back(value == 0 ? NAN : value);
  for (int n = 0; n < kSamples; ++n)
    for (int y = 0; y < kRows; ++y)
      for (int x = 0; x < kColumns; ++x) depth.push_back(pixel(n, y, x, 1));
  write("field.npy", npy({.descr = "<f8", .shape = "(61, 3, 4, 5)"}, bytes_of_numbers(field)));
  write("depth.npy", npy({.shape = "(61, 4, 5)"}, bytes_of_numbers(depth)));
  params_.source = root_ + "/x.npy";
  params_.target = "field.npy";
  params_.test_fraction = 0.2;
  params_.shards = 3;
  expect_same_files_by_one_rank();
  const io::Dataset train = open("train"), test = open("test");
  EXPECT_EQ(io::describe_forms(train.info().record()), "image float32 (4, 5, 3), target float32 (4, 5, 3)");
  EXPECT_EQ(train.info().class_names, (Names{"field_0", "field_1", "field_2"}));
  EXPECT_EQ(train.info().target, test.info().target);
  EXPECT_EQ(train.info().target.channel_axis, ChannelAxis::kFirst);
  std::vector<float> values(static_cast<std::size_t>(kRows * kColumns * kChannels));
  for (const io::Dataset* data : {&train, &test})
    for (std::int64_t i = 0; i < data->info().num_samples; ++i) {
      const std::vector<float> expected = image(number_of(data->name(i)));
      data->read_target(i, values);
      EXPECT_EQ(values_of(*data, i), expected);
      for (std::size_t k = 0; k < values.size(); ++k) {
        if (expected[k] == 0)
          EXPECT_TRUE(std::isnan(values[k]));
        else
          EXPECT_EQ(values[k], expected[k]);
        if (data == &train && expected[k] != 0) channels[k % kChannels].push_back(values[k]);
      }
    }
  for (std::size_t c = 0; c < kChannels; ++c)
    expect_statistics(channels[c], train.info().target.mean[c], train.info().target.stddev[c]);
  world().barrier();

  params_.target = "depth.npy";
  import();
  const io::Dataset depths = open("train");
  EXPECT_EQ(io::describe_forms(depths.info().record()), "image float32 (4, 5, 3), target float32 (4, 5, 1)");
  EXPECT_EQ(depths.info().class_names, Names{"depth"});
  EXPECT_EQ(depths.info().target.channel_axis, ChannelAxis::kNone);
  values.resize(std::size_t{kRows} * std::size_t{kColumns});
  depths.read_target(0, values);
  EXPECT_EQ(values[7], pixel(number_of(depths.name(0)), 1, 2, 1));
  world().barrier();
}

TEST_F(FieldImport, FieldsWithoutAnyValueOrWithInfinitiesAreBad) {
  write("x.npy", npy_of_images(true));
  std::vector<float> field = images(true);
  std::fill_n(field.begin(), kRows * kColumns * kChannels, NAN);
  field.back() = INFINITY;
  write("y.npy", npy({.shape = "(61, 3, 4, 5)"}, bytes_of_numbers(field)));
  params_.source = root_ + "/x.npy";
  params_.target = "y.npy";
  EXPECT_CONTAINS(refusal(),
                  "2 samples cannot be used. First: 'x.npy:0': its target is missing; 'x.npy:60': its target "
                  "is infinite");
  params_.bad_values = BadValuesKind::kSkip;
  EXPECT_EQ(import().splits[0].info.num_samples, kSamples - 2);
}

TEST_F(FieldImport, LongRowsOfNumbersAreStoredWithTheInputs) {
  std::vector<std::int32_t> rows(4 * 1025);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<std::int32_t>(i * 3);
  write("x.npy", npy({.shape = "(4, 2)"}, std::string(32, '\0')));
  write("y.npy", npy({.descr = "<i4", .shape = "(4, 1025)"}, bytes_of_numbers(rows)));
  params_.source = root_ + "/x.npy";
  params_.target = "y.npy";
  EXPECT_CONTAINS(refusal(),
                  "y.npy' has 1025 values for each sample. Allowed: 1 to 1024, and more with "
                  "import.target_kind = numbers");
  params_.target_kind = TargetRequest::kNumbers;
  expect_same_files_by_one_rank();
  const io::Dataset train = open("train");
  EXPECT_EQ(io::describe_forms(train.info().record()), "values float32 (2), target float32 (1025)");
  std::vector<float> values(1025);
  train.read_target(3, values);
  EXPECT_EQ(values[1024], 3.0F * 4099);
  world().barrier();
}

}  // namespace
}  // namespace convoy::test
