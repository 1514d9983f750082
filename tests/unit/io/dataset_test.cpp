/// Shards are read back as they were written, for any number of them; shards that do not belong together are refused by
/// name.
#include "convoy/io/dataset.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "convoy/base/error.h"
#include "convoy/io/atomic_file.h"

#include "io/shard.h"
#include "unit/io/dataset_samples.h"
#include "unit/io/hdf5_files.h"
#include "unit/io/temporary_directory.h"
#include "unit/messages.h"

namespace convoy::io {
namespace {

namespace fs = std::filesystem;
using test::ContentSpec;
using test::DatasetContent;
using test::make_content;
using test::message_of;
using test::read_sample;
using test::TemporaryDirectory;
using test::write_dataset;

void write(const TemporaryDirectory& directory, const std::string& name, int num_shards, const ContentSpec& spec = {}) {
  DatasetContent content = make_content(spec);
  write_dataset(directory.path(), name, num_shards, content);
}

void expect_known(const Dataset& dataset, const ContentSpec& spec) {
  ASSERT_EQ(dataset.info().num_samples, spec.num_samples);
  ASSERT_EQ(dataset.info().image, spec.image);
  for (std::int64_t n = 0; n < spec.num_samples; ++n) {
    EXPECT_EQ(dataset.label(n), test::known_label(n, spec.num_classes)) << n;
    const std::vector<std::uint8_t> image = read_sample(dataset, n);
    ASSERT_EQ(std::ssize(image), spec.image.count());
    for (std::size_t i = 0; i < image.size(); ++i) {
      ASSERT_EQ(image[i], test::known_byte(n, static_cast<std::int64_t>(i))) << "sample " << n << " byte " << i;
    }
  }
}

std::string refusal(const std::string& path, const std::string& key = "data.train") {
  return message_of<RequestError>([&] { Dataset(path, key); });
}

TEST(Dataset, ComesBackFromAnyNumberOfShards) {
  for (const int num_shards : {1, 2, 3, 7, 20}) {
    const TemporaryDirectory directory;
    write(directory, "train", num_shards);
    EXPECT_EQ(directory.num_files(), static_cast<std::size_t>(num_shards));
    expect_known(Dataset(directory / "train", "data.train"), {});
    expect_known(Dataset(directory.path(), "data.train"), {});  // a folder: the key names the split
    expect_known(Dataset(directory.path(), "predict.data", VerifyKind::kEpoch, "train"), {});
  }
}

TEST(Dataset, OfOnePixelOneSampleAndOfManySamplesComesBack) {
  for (const ContentSpec& spec :
       {ContentSpec{{1, 1, 1}, 1, 1}, ContentSpec{{1, 1, 1}, 5000, 2}, ContentSpec{{40, 30, 3}, 300, 256}}) {
    const TemporaryDirectory directory;
    write(directory, "train", 1, spec);
    expect_known(Dataset(directory / "train.h5", "data.train"), spec);
  }
}

TEST(Dataset, KeepsClassesSourceAndManyLongNames) {
  const TemporaryDirectory directory;
  DatasetContent content = make_content();
  content.info.class_names.clear();
  for (int k = 0; k < 1000; ++k)
    content.info.class_names.push_back(std::string(static_cast<std::size_t>(k % 130), 'x') + "é");
  write_dataset(directory.path(), "train", 2, content);
  const Dataset dataset(directory / "train", "data.train");
  EXPECT_EQ(dataset.info().class_names, content.info.class_names);
  EXPECT_EQ(dataset.info().source, "made for a test");
}

TEST(Dataset, MeanAndDeviationAreThoseOfAllPixelsOfAChannel) {
  const TemporaryDirectory directory;
  DatasetContent content = make_content();
  write_dataset(directory.path(), "train", 3, content);
  const Dataset dataset(directory / "train", "data.train");
  for (std::size_t c = 0; c < 3; ++c) {
    double sum = 0, sum_of_squares = 0, count = 0;
    for (std::size_t i = c; i < content.images.size(); i += 3, ++count) {
      sum += content.images[i];
      sum_of_squares += static_cast<double>(content.images[i]) * content.images[i];
    }
    const double mean = sum / count / 255;
    const double stddev = std::sqrt(sum_of_squares / count - (sum / count) * (sum / count)) / 255;
    // The integer sums here are exact; the writer adds 256 rounded terms: 256 * 2^-53, some 3e-14 relative.
    EXPECT_NEAR(dataset.info().channel_mean[c], mean, 1e-13);
    EXPECT_NEAR(dataset.info().channel_stddev[c], stddev, 1e-13);
    EXPECT_EQ(dataset.info().channel_mean[c], content.info.channel_mean[c]);  // the same bits from the file
  }
}

TEST(Dataset, SameContentGivesTheSameBytes) {
  const TemporaryDirectory a, b;
  write(a, "train", 2);
  write(b, "train", 2);
  EXPECT_TRUE(read_file(a / "train-001.h5") == read_file(b / "train-001.h5"));
}

TEST(Dataset, ImportInAnotherNumberOfShardsReplacesTheEarlierButNotItsNeighbours) {
  const TemporaryDirectory directory;
  write(directory, "train2", 1);
  write(directory, "train-hard", 1);
  std::ofstream(directory / "train-007.h5.partial") << "left by a killed import";
  for (const int num_shards : {3, 1, 4, 2}) {
    write(directory, "train", num_shards);
    EXPECT_EQ(directory.num_files(), static_cast<std::size_t>(num_shards) + 2) << num_shards;
    expect_known(Dataset(directory / "train", "data.train"), {});
  }
}

TEST(Dataset, OneShardOfSeveralCanBeOpenedAlone) {
  const TemporaryDirectory directory;
  write(directory, "train", 4);
  const Dataset dataset(directory / "train-001.h5", "data.test");
  EXPECT_EQ(dataset.info().num_samples, 5);
  EXPECT_EQ(read_sample(dataset, 0)[0], test::known_byte(5, 0));
  EXPECT_EQ(dataset.label(4), test::known_label(9, 4));
}

// Samples of several shards: what is read, counted and hashed is what an import of them alone would give.
TEST(Dataset, KeepsChosenSamples) {
  const TemporaryDirectory directory;
  write(directory, "train", 3);
  const std::vector<std::int64_t> chosen = {0, 5, 6, 13, 19};
  DatasetContent content = make_content();
  DatasetContent alone = make_content({.num_samples = 0});
  for (const std::int64_t sample : chosen) {
    const auto image = content.image(sample);
    for (const std::byte value : image) alone.images.push_back(static_cast<std::uint8_t>(value));
    alone.labels.push_back(content.labels[static_cast<std::size_t>(sample)]);
  }
  alone.info.num_samples = std::ssize(chosen);
  write_dataset(directory.path(), "alone", 1, alone);
  const Dataset expected(directory / "alone", "data.train");
  Dataset dataset(directory / "train", "data.train");
  const std::int64_t whole = dataset.content_hash();
  dataset.keep(chosen);
  ASSERT_EQ(dataset.info().num_samples, 5);
  for (std::int64_t i = 0; i < 5; ++i) {
    EXPECT_EQ(read_sample(dataset, i), read_sample(expected, i)) << i;
    EXPECT_EQ(dataset.label(i), expected.label(i)) << i;
  }
  EXPECT_EQ(dataset.info().class_counts, expected.info().class_counts);
  EXPECT_EQ(dataset.content_hash(), expected.content_hash());
  EXPECT_EQ(dataset.content_hash(/*of_all=*/true), whole);
  EXPECT_NE(whole, expected.content_hash());
  EXPECT_THROW(static_cast<void>(dataset.label(5)), Error);
  dataset.keep({1, 4});  // of those that it has
  EXPECT_EQ(read_sample(dataset, 1)[0], test::known_byte(19, 0));
}

TEST(Dataset, ItsContentHashFollowsImagesLabelsAndClassesAndNothingElse) {
  const TemporaryDirectory directory;
  const auto hash_of_content = [&](const std::string& name, int num_shards, const auto& change) {
    DatasetContent content = make_content();
    change(content);
    write_dataset(directory.path(), name, num_shards, content);
    return Dataset(directory / name, "data.train").content_hash();
  };
  const std::int64_t hash = hash_of_content("a", 1, [](DatasetContent&) {});
  EXPECT_EQ(hash_of_content("b", 7, [](DatasetContent&) {}), hash) << "other names, other shards";
  EXPECT_EQ(hash_of_content("c", 2, [](DatasetContent& c) { c.info.source = "elsewhere"; }), hash);
  EXPECT_NE(hash_of_content("d", 1, [](DatasetContent& c) { c.images.back() ^= 1; }), hash);
  EXPECT_NE(hash_of_content("e", 1, [](DatasetContent& c) { std::swap(c.labels[0], c.labels[1]); }), hash);
  EXPECT_NE(hash_of_content("f", 1, [](DatasetContent& c) { c.info.class_names[3] = "another"; }), hash);
  EXPECT_NE(hash_of_content("g", 1, [](DatasetContent& c) { c.info.image = {4, 5, 3}; }), hash);
}

TEST(Dataset, SamplesOutsideAreRefused) {
  const TemporaryDirectory directory;
  write(directory, "train", 2);
  const Dataset dataset(directory / "train", "data.train");
  EXPECT_THROW(read_sample(dataset, 20), Error);
  EXPECT_THROW(dataset.label(-1), Error);
}

TEST(DatasetRefusal, NamesTheKeyAndWhatWasLookedFor) {
  const TemporaryDirectory directory;
  EXPECT_CONTAINS(refusal(directory / "train"),
                  "data.train = " + (directory / "train") + ": there is no such file or folder");
  EXPECT_CONTAINS(refusal(directory / "train"), "train-000.h5");
  EXPECT_CONTAINS(refusal(directory.path(), "data.test"), "there is neither '" + (directory / "test.h5"));
  write(directory, "val", 2);
  EXPECT_CONTAINS(refusal(directory.path(), "data.test"), "; there is " + (directory / "val"));
  EXPECT_CONTAINS(refusal(""), "data.train is not given");
}

TEST(DatasetRefusal, GapInTheNumbering) {
  const TemporaryDirectory directory;
  write(directory, "train", 4);
  fs::remove(directory / "train-002.h5");
  EXPECT_CONTAINS(refusal(directory / "train"), "train-002.h5' is missing");
}

TEST(DatasetRefusal, LastShardMissing) {
  const TemporaryDirectory directory;
  write(directory, "train", 4);
  fs::remove(directory / "train-003.h5");
  EXPECT_CONTAINS(refusal(directory / "train"), "number 1 of 4, but is now number 1 of 3");
}

TEST(DatasetRefusal, OneFileAndNumberedOnesBesideEachOther) {
  const TemporaryDirectory directory;
  write(directory, "train", 2);
  fs::copy_file(directory / "train-000.h5", directory / "train.h5");
  EXPECT_CONTAINS(refusal(directory / "train"), "both");
}

TEST(DatasetRefusal, ShardsOfOtherShapeClassesOrImport) {
  const TemporaryDirectory directory;
  write(directory, "train", 2);
  write(directory, "wide", 2, {.image = {6, 4, 3}});
  write(directory, "many", 2, {.num_classes = 5});
  write(directory, "other", 2, {.num_samples = 24});
  fs::copy_file(directory / "wide-001.h5", directory / "train-001.h5", fs::copy_options::overwrite_existing);
  EXPECT_CONTAINS(refusal(directory / "train"), "holds 6x4x3 images, but '");
  fs::copy_file(directory / "many-001.h5", directory / "train-001.h5", fs::copy_options::overwrite_existing);
  EXPECT_CONTAINS(refusal(directory / "train"), "name different classes");
  fs::copy_file(directory / "other-001.h5", directory / "train-001.h5", fs::copy_options::overwrite_existing);
  EXPECT_CONTAINS(refusal(directory / "train"), "from different imports");
}

TEST(DatasetRefusal, WhatIsNotHdf5OrNotOurs) {
  const TemporaryDirectory directory;
  std::ofstream(directory / "train.h5") << "not HDF5 at all, but longer than a trailer: " << std::string(100, 'x');
  EXPECT_CONTAINS(refusal(directory / "train"), "it is not HDF5");
  std::ofstream(directory / "train.h5") << "";
  EXPECT_CONTAINS(refusal(directory / "train"), "it is not HDF5");
  std::ofstream(directory / "train.h5", std::ios::binary) << "\x89HDF\r\n\x1a\n" << std::string(1000, 'x');
  EXPECT_CONTAINS(refusal(directory / "train"), "not from 'convoy import'");
  EXPECT_CONTAINS(refusal(directory / "train"), "data.train: shard '" + directory / "train.h5");
}

TEST(DatasetRefusal, AUsersHdf5FileIsNamedAsThat) {
  const TemporaryDirectory directory;
  const std::string path = directory / "train.h5";
  const float values[6] = {};
  test::write_hdf5(path, "scans/patches", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, {3, 2}, values);
  test::write_hdf5(path, "kind", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, {3}, values);
  EXPECT_CONTAINS(
      refusal(path),
      "it is an HDF5 file that convoy import has not made; it holds the arrays kind, scans/patches. Import it "
      "as arrays (convoy import --import.source=" +
          path);
  EXPECT_CONTAINS(refusal(path), "(convoy predict RUN --predict.data=" + path + ")");
  write(directory, "cut", 1);
  const std::string cut = directory / "cut.h5";
  fs::resize_file(cut, fs::file_size(cut) - 64);
  EXPECT_CONTAINS(refusal(cut), "it is truncated");
}

/// Writes a shard with a right hash whose head was changed by `change`.
template <typename Change>
void forge(const TemporaryDirectory& directory, const Change& change) {
  const DatasetContent content = make_content();
  ShardHead head{content.info, 0, 1, content.labels};
  for (std::int64_t i = 0; i < head.info.num_samples; ++i) head.hashes.push_back(short_hash_of(content.image(i)));
  head.info.channel_mean = head.info.channel_stddev = {0, 0, 0};
  head.info.class_counts.resize(head.info.class_names.size());
  change(head);
  const std::vector<std::byte> bytes = encode_shard_head(head);
  const auto images = std::as_bytes(std::span(content.images));
  const auto trailer = encode_shard_trailer({bytes.size(), images.size(), hash_of(images)}, bytes);
  AtomicFile file(directory / "train.h5", 0);
  file.write(bytes);
  file.write(images);
  file.write(trailer);
  file.commit();
}

TEST(DatasetRefusal, WrongContentUnderARightHash) {
  const TemporaryDirectory directory;
  forge(directory, [](ShardHead&) {});
  expect_known(Dataset(directory / "train", "data.train"), {});
  forge(directory, [](ShardHead& head) { head.labels[9] = 4; });
  EXPECT_CONTAINS(refusal(directory / "train"), "label 4 of its sample 9");
  forge(directory, [](ShardHead& head) { head.labels[9] = -1; });
  EXPECT_CONTAINS(refusal(directory / "train"), "label -1");
  forge(directory, [](ShardHead& head) { head.hashes.pop_back(); });
  EXPECT_CONTAINS(refusal(directory / "train"), "it holds 20 images and 19 hashes");
  forge(directory, [](ShardHead& head) { head.info.channel_mean = {0}; });
  EXPECT_CONTAINS(refusal(directory / "train"), "'channel_mean' has 1 values, not 3");
  forge(directory, [](ShardHead& head) { head.info.image.h = 6; });  // claims more than the file has
  EXPECT_CONTAINS(refusal(directory / "train"), "truncated file");
  forge(directory, [](ShardHead& head) { head.info.image.h = 4; });
  EXPECT_CONTAINS(refusal(directory / "train"), "not at the position that is stored at its end");
}

TEST(Dataset, H5dumpReadsTheImages) {
  if (std::system("h5dump --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "h5dump is not installed (hdf5-tools)";
  const TemporaryDirectory directory;
  write(directory, "train", 1);
  const std::string out = directory / "images.bin";
  const std::string command =
      fmt::format("h5dump -d /images -b LE -o '{}' '{}' > /dev/null 2>&1", out, directory / "train.h5");
  ASSERT_EQ(std::system(command.c_str()), 0);
  const auto dumped = read_file(out);
  const DatasetContent content = make_content();
  ASSERT_EQ(dumped.size(), content.images.size());
  EXPECT_TRUE(std::equal(dumped.begin(), dumped.end(), std::as_bytes(std::span(content.images)).begin()));
}

}  // namespace
}  // namespace convoy::io
