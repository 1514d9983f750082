/// However many ranks import, the samples of train get the same folds, and each fold the statistics of the samples
/// outside it.
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "convoy/data/training_set.h"
#include "convoy/io/shard_writer.h"
#include "convoy/params/data_parameters.h"

#include "parallel/array_import_fixture.h"
#include "unit/data/image_files.h"

namespace convoy {
namespace {

using test::kSamples;
using test::position;
using test::table;
using test::world;

class FoldImport : public test::ArrayImportTest {
 protected:
  /// The samples outside a fold, or those in it.
  io::Dataset open_part(std::int64_t fold, FoldPart part) const {
    io::Dataset data = open("train");
    keep_fold(data, fold, part, params_.output);
    return data;
  }

  void use_table(const std::string& target, const std::string& group) {
    write("t.csv", table());
    params_.source = root_ + "/t.csv";
    params_.inputs = "values: a|b|c";
    params_.target = target;
    params_.id = "name";
    params_.group = group;
  }

  /// Expects the statistics of a plain loop over the samples of the table.
  static void expect_statistics_outside(const io::Dataset& outside) {
    std::vector<std::vector<float>> values(4);
    for (std::int64_t i = 0; i < outside.info().num_samples; ++i) {
      const int number = number_of(outside.name(i));
      for (std::size_t c = 0; c < 3; ++c) values[c].push_back(position(number)[c]);
      values[3].push_back(static_cast<float>(number * 0.5 - 3));
    }
    const io::ArrayInfo& array = outside.info().arrays.front();
    for (std::size_t c = 0; c < 3; ++c) expect_statistics(values[c], array.mean[c], array.stddev[c]);
    const Target& target = outside.info().target;
    expect_statistics(values[3], target.mean[0], target.stddev[0]);
  }
};

TEST_F(FoldImport, OfNumbersInGroupsGivesTheSameFilesAndTheStatisticsOutsideEachFold) {
  use_table("energy", "group");
  params_.folds = 4;
  params_.val_fraction = 0.15;
  for (const std::int64_t shards : {3, 0}) {
    params_.shards = shards;
    expect_same_files_by_one_rank();
  }
  EXPECT_EQ(open("val").info().num_folds, 0);
  std::set<int> seen;
  for (std::int64_t fold = 1; fold <= 4; ++fold) {
    const io::Dataset inside = open_part(fold, FoldPart::kInside), outside = open_part(fold, FoldPart::kOutside);
    EXPECT_EQ(inside.info().num_samples + outside.info().num_samples, open("train").info().num_samples);
    std::set<int> groups;
    for (std::int64_t i = 0; i < inside.info().num_samples; ++i) {
      EXPECT_TRUE(seen.insert(number_of(inside.name(i))).second);
      groups.insert(number_of(inside.name(i)) % 9);
    }
    for (std::int64_t i = 0; i < outside.info().num_samples; ++i)
      EXPECT_FALSE(groups.contains(number_of(outside.name(i)) % 9)) << "a group is in one fold";
    expect_statistics_outside(outside);
    EXPECT_EQ(inside.info().arrays, outside.info().arrays);
    EXPECT_EQ(inside.info().target, outside.info().target);
  }
  EXPECT_EQ(std::ssize(seen), open("train").info().num_samples);
  const io::Dataset with_folds = open("train");
  world().barrier();
  params_.folds = 0;
  import();
  EXPECT_EQ(with_folds.info().arrays, open("train").info().arrays) << "those of all samples";
  EXPECT_EQ(with_folds.content_hash(), open("train").content_hash());
  world().barrier();
}

TEST_F(FoldImport, OfClassesHasTheSameShareOfEachInEveryFold) {
  use_table("kind", "");
  params_.folds = 5;
  expect_same_files_by_one_rank();
  const ImportSummary summary = import();
  if (world().rank() == 0) {
    EXPECT_CONTAINS(summary.notes.back(), "train: 5 folds of 12 to 13 samples (import.folds)");
  }
  for (std::int64_t fold = 1; fold <= 5; ++fold) {
    const auto counts = open_part(fold, FoldPart::kInside).info().class_counts;  // of 40 and 21
    EXPECT_EQ(counts[0], 8);
    EXPECT_NEAR(static_cast<double>(counts[1]), 4, 1);
  }
  world().barrier();
  params_.folds = kSamples + 1;
  on_root([&] { std::filesystem::remove_all(params_.output); });
  EXPECT_CONTAINS(refusal(), "import.folds = 62, but split train has only 61 samples. Allowed: 2 to 61");
  params_.folds = 10;
  params_.group = "group";
  EXPECT_CONTAINS(refusal(), "import.folds = 10, but split train has only 9 groups. Allowed: 2 to 9");
}

TEST_F(FoldImport, WithoutAGoodSampleInAFoldIsRefused) {
  write("t.csv", "a,y\n1,2.5\nnan,3\n4,5\n");
  params_.source = root_ + "/t.csv";
  params_.target = "y";
  params_.bad_values = BadValuesKind::kSkip;
  params_.folds = 3;
  EXPECT_CONTAINS(refusal(), "import.folds = 3: all samples of fold ");
  write("t.csv", "a,y,z\n1,2,\n2,3,\n4,,5\n");
  params_.target = "y|z";
  EXPECT_CONTAINS(refusal(), "has a value of 'z'. Leave it out");
  params_.folds = 65535;
  EXPECT_CONTAINS(refusal(), "import.folds = 65535, but split train has only 3 samples");
  write("x.npy", test::npy({.descr = "|u1", .shape = "(3, 349526)"}, std::string(3 * 349526, '\1')));
  write("y.npy", test::npy({.descr = "<f4", .shape = "(3,)"}, test::bytes_of_numbers<float>({1, 2, 3})));
  params_.source = root_ + "/x.npy";
  params_.target = "y.npy";
  params_.folds = 3;
  EXPECT_CONTAINS(refusal(),
                  "a sample has 349527 channels and numbers, each with a mean for each fold. Allowed: up to 2");
}

TEST_F(FoldImport, OfPixelsHasTheirStatisticsOutsideEachFold) {
  on_root([&] {
    for (const std::string name : {"ant", "bee"}) {
      std::filesystem::create_directories(root_ + "/pictures/" + name);
      for (int i = 0; i < 9; ++i)
        test::write_bytes(fmt::format("{}/pictures/{}/{}.png", root_, name, i),
                          test::make_png({.h = 5 + i, .w = 9 + i * i}));
    }
  });
  params_.source = root_ + "/pictures";
  params_.size = 6;
  params_.folds = 3;
  params_.shards = 4;
  expect_same_files_by_one_rank();
  for (std::int64_t fold = 1; fold <= 3; ++fold) {
    EXPECT_EQ(open_part(fold, FoldPart::kInside).info().class_counts, (std::vector<std::int64_t>{3, 3}));
    const io::Dataset outside = open_part(fold, FoldPart::kOutside);
    const io::DatasetInfo& info = outside.info();
    io::ChannelCounts counts(info.image.c);
    std::vector<std::uint8_t> pixels(static_cast<std::size_t>(info.image.count()));
    for (std::int64_t i = 0; i < info.num_samples; ++i) {
      outside.read_pixels(i, std::as_writable_bytes(std::span(pixels)));
      counts.add(pixels);
    }
    io::DatasetInfo wanted;
    counts.describe(wanted);
    EXPECT_EQ(info.channel_mean, wanted.channel_mean);
    EXPECT_EQ(info.channel_stddev, wanted.channel_stddev);
  }
  world().barrier();
}

TEST_F(FoldImport, OfTextsHasFolds) {
  std::string texts = "label,text\n";
  for (int i = 0; i < 20; ++i) texts += fmt::format("{},word{} and more\n", i % 2 == 0 ? "good" : "bad", i);
  write("train.csv", texts);
  params_.source = root_ + "/train.csv";
  params_.folds = 5;
  params_.shards = 2;
  expect_same_files_by_one_rank();
  for (std::int64_t fold = 1; fold <= 5; ++fold)
    EXPECT_EQ(open_part(fold, FoldPart::kInside).info().class_counts, (std::vector<std::int64_t>{2, 2}));
  world().barrier();
}

}  // namespace
}  // namespace convoy
