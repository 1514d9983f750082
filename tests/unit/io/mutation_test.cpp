/// Thousands of damaged checkpoints, shards and safetensors files: changed bytes that a hash protects are found, all
/// others are read as they are or refused by name; no file causes a crash, a hang or a lack of memory.
#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

#include "convoy/io/atomic_file.h"
#include "convoy/io/checkpoint.h"
#include "convoy/io/dataset.h"
#include "convoy/io/inspect.h"
#include "convoy/io/safetensors.h"
#include "convoy/io/shard_files.h"
#include "convoy/io/shard_writer.h"

#include "unit/io/array_samples.h"
#include "unit/io/checkpoint_samples.h"
#include "unit/io/dataset_samples.h"
#include "unit/io/temporary_directory.h"
#include "unit/mutations.h"

namespace convoy::io {
namespace {

using test::Bytes;
using test::DatasetContent;
using test::judge_mutations;
using test::LengthField;
using test::Protection;
using test::Verdicts;

TEST(Mutation, NoChangedCheckpointIsRead) {
  const Bytes file = encode_checkpoint(test::make_checkpoint());
  const std::size_t trailer = file.size() - 32;
  // The image's size in the trailer; in HDF5's superblock the end of the file and the offset of its root.
  const std::vector<LengthField> lengths = {{trailer + 8, 8}, {40, 8}, {64, 8}};
  const Verdicts verdicts =
      judge_mutations({.file = file, .lengths = lengths},
                      {.count = 4000, .names = "'a.h5'", .protection = Protection::kHash}, [&](const Bytes& bytes) {
                        EXPECT_EQ(find_damage(bytes).has_value(), bytes != file);
                        decode_checkpoint(bytes, "a.h5");
                      });
  EXPECT_GT(verdicts.num_refused, 3000);
}

// A restart takes the newest whole checkpoint, whatever happened to a newer one.
TEST(Mutation, ARestartTakesTheCheckpointBeforeADamagedOne) {
  const test::TemporaryDirectory directory;
  write_file_atomically(checkpoint_path(directory.path(), 1), encode_checkpoint(test::make_checkpoint(1)));
  const Bytes file = encode_checkpoint(test::make_checkpoint(2));
  const std::string newest = checkpoint_path(directory.path(), 2);
  judge_mutations(
      {.file = file, .lengths = {{file.size() - 24, 8}}}, {.count = 500, .names = ""}, [&](const Bytes& bytes) {
        test::write_bytes(newest, bytes);
        int num_skipped = 0;
        const auto found = find_newest_checkpoint(directory.path(), [&](const auto& path, const auto& reason) {
          EXPECT_EQ(path, newest);
          EXPECT_FALSE(reason.empty());
          ++num_skipped;
        });
        ASSERT_TRUE(found.has_value());
        EXPECT_EQ(num_skipped, bytes == file ? 0 : 1);
        EXPECT_EQ(decode_checkpoint(found->bytes, found->path).state.step, bytes == file ? 2 : 1);
      });
}

/// Reads all of a shard of pixels: each image must be that of the content, or be refused by the shard's name.
void read_shard(const std::string& path, const Bytes& bytes, const DatasetContent& content, bool changed) {
  test::write_bytes(path, bytes);
  EXPECT_EQ(verify_file(path).has_value(), changed) << "damage that is not seen";
  const Dataset dataset(path, "data.train");
  ASSERT_EQ(dataset.info().num_samples * dataset.info().image.count(), std::ssize(content.images));
  bool same = true;
  for (std::int64_t i = 0; i < dataset.info().num_samples; ++i) {
    EXPECT_EQ(dataset.label(i), content.labels[static_cast<std::size_t>(i)]);
    try {
      const std::vector<std::uint8_t> image = test::read_sample(dataset, i);
      EXPECT_TRUE(std::ranges::equal(std::as_bytes(std::span(image)), content.image(i))) << i;
    } catch (const StoreError& error) {
      EXPECT_NE(std::string(error.what()).find("'" + path + "' is damaged"), std::string::npos) << error.what();
      same = false;
    }
  }
  EXPECT_TRUE(same || verify_file(path).has_value());
}

TEST(Mutation, AShardIsWholeOrRefusedAndItsImagesAreVerifiedOnRequest) {
  const test::TemporaryDirectory directory;
  DatasetContent content = test::make_content({.image = {6, 5, 1}, .num_samples = 40, .num_classes = 3});
  test::write_dataset(directory.path(), "train", 1, content);
  const std::string path = shard_path(directory.path(), "train", 0, 1);
  const Bytes file = read_file(path);
  const Verdicts verdicts = judge_mutations(
      {.file = file, .lengths = test::lengths_in_shard(file)}, {.names = "data.train: shard '" + path + "'"},
      [&](const Bytes& bytes) { read_shard(path, bytes, content, bytes != file); });
  EXPECT_GT(verdicts.num_refused, 2000);
  EXPECT_GT(verdicts.num_read, 50) << "of images, which are not verified at each start";
}

TEST(Mutation, AShardOfArraysIsWholeOrRefusedAndItsArraysAreVerifiedOnRequest) {
  const test::TemporaryDirectory directory;
  DatasetInfo info = test::arrays_info(TargetKind::kNumbers);
  info.arrays[1] = test::make_array("b", ElementType::kFloat64, {10, 20});
  test::write_arrays(directory.path(), info);
  const std::string path = directory / "train.h5";
  const Bytes file = read_file(path);
  const auto read = [&](const Bytes& bytes) {
    test::write_bytes(path, bytes);
    const Dataset dataset(path, "data.train");
    ASSERT_EQ(dataset.info().arrays, info.arrays);
    Bytes memory;
    for (std::int64_t i = 0; i < dataset.info().num_samples; ++i) {
      std::size_t offset = 0;
      const Bytes record = test::known_record(info, i);
      for (std::size_t input = 0; input < info.arrays.size(); ++input) {
        const auto size = static_cast<std::size_t>(info.arrays[input].bytes());
        try {
          const auto array = dataset.read_array(i, input, memory);
          EXPECT_TRUE(std::ranges::equal(array, std::span(record).subspan(offset, size)));
        } catch (const StoreError& error) {
          EXPECT_NE(std::string(error.what()).find("'" + path + "' is damaged"), std::string::npos) << error.what();
          EXPECT_TRUE(find_damage_in_body(open_shard(path), path).has_value());
        }
        offset += size;
      }
    }
  };
  const Verdicts verdicts = judge_mutations({.file = file, .lengths = test::lengths_in_shard(file)},
                                            {.names = "data.train: shard '" + path + "'"}, read);
  EXPECT_GT(verdicts.num_refused, 2000);
  EXPECT_GT(verdicts.num_read, 50) << "of samples, which are not verified at each start";
}

TEST(Mutation, AFileDescribesItselfOrIsRefusedByName) {
  const test::TemporaryDirectory directory;
  const std::string path = directory / "some.file";
  for (const Bytes& file : {encode_checkpoint(test::make_checkpoint()),
                            encode_safetensors({.tensors = {test::make_tensor("a", {3}, 1)}, .counters = {}})}) {
    judge_mutations({.file = file, .lengths = {{0, 8}}, .head_bytes = 24}, {.count = 1000, .names = path},
                    [&](const Bytes& bytes) {
                      test::write_bytes(path, bytes);
                      EXPECT_FALSE(describe_file(path).empty());
                    });
  }
}

// Files that are not refused have other values or names, but shapes that fit.
TEST(Mutation, SafetensorsAreReadOrRefused) {
  StateDict dict;
  dict.tensors = {test::make_tensor("bn1.running_mean", {3}, 0.5f), test::make_tensor("conv1.weight", {3, 2, 1, 2}, -1),
                  test::make_tensor("empty", {0, 4}, 0), test::make_tensor("scalar", {}, 7)};
  dict.counters = {{"bn1.num_batches_tracked", 1234567890123}};
  const Bytes file = encode_safetensors(dict);
  const Verdicts verdicts = judge_mutations(
      {.file = file, .lengths = {{0, 8}}, .marks = "0123456789-.e{}[]\",: \\u", .head_bytes = file.size() - 80},
      {.count = 6000, .names = "safetensors file 'x': "}, [](const Bytes& bytes) {
        for (const NamedTensor& tensor : decode_safetensors(bytes, "x").tensors) {
          const std::int64_t count =
              std::accumulate(tensor.dims.begin(), tensor.dims.end(), std::int64_t{1}, std::multiplies<>());
          ASSERT_EQ(std::ssize(tensor.values), count);
        }
      });
  EXPECT_GT(verdicts.num_refused, 4000);
  EXPECT_GT(verdicts.num_read, 150) << "a test that refuses everything tests nothing";
}

}  // namespace
}  // namespace convoy::io
