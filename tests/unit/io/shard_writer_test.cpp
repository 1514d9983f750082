/// Shards written sample by sample: files and names are read back, skipped samples leave no trace, and no partial file
/// remains.
#include "convoy/io/shard_writer.h"

#include <filesystem>

#include <gtest/gtest.h>
#include <malloc.h>

#include "convoy/base/error.h"
#include "convoy/io/atomic_file.h"
#include "convoy/io/dataset.h"
#include "convoy/io/inspect.h"

#include "unit/io/temporary_directory.h"

namespace convoy::io {
namespace {

using test::TemporaryDirectory;

DatasetInfo encoded_info(std::int64_t max_samples) {
  DatasetInfo info;
  info.encoded = true;
  info.image = {0, 0, 3};
  info.num_samples = max_samples;
  info.class_names = {"a", "b"};
  info.class_counts = {1, 2};
  info.channel_mean = info.channel_stddev = {0.25, 0.5, 0.75};
  info.source = "made for a test";
  return info;
}

std::vector<std::byte> known_file(std::int64_t sample) {
  const std::size_t size = 1 + static_cast<std::size_t>(sample * sample * 50);
  return std::vector<std::byte>(size, static_cast<std::byte>(sample + 1));
}

void write(const std::string& path, const DatasetInfo& info, std::int64_t count) {
  std::filesystem::remove(path);
  ShardWriter writer({path, 0, 1}, info);
  for (std::int64_t i = 0; i < count; ++i) {
    writer.append(known_file(i), {.label = static_cast<std::int32_t>(i % 2)},
                  "folder/" + std::string(static_cast<std::size_t>(i), 'x'));
  }
  writer.end_samples();
  EXPECT_FALSE(std::filesystem::exists(path));
  writer.finish(info);
  EXPECT_FALSE(std::filesystem::exists(path));
  writer.commit();
}

TEST(ShardWriter, FilesAndNamesComeBack) {
  const TemporaryDirectory directory;
  const std::string path = directory / "train.h5";
  // The last count is one more than the writer's buffer of 1 MiB can hold.
  for (const std::int64_t count : {1, 2, 3, 20, 160}) {
    write(path, encoded_info(count), count);
    const Dataset dataset(path, "data.train");
    EXPECT_TRUE(dataset.info().encoded);
    EXPECT_EQ(dataset.info().image, (ImageShape{0, 0, 3}));
    EXPECT_EQ(dataset.info().class_counts, (std::vector<std::int64_t>{1, 2}));
    ASSERT_EQ(dataset.info().num_samples, count);
    std::vector<std::byte> memory;
    for (std::int64_t i = 0; i < count; ++i) {
      const auto file = dataset.read_file(i, memory);
      EXPECT_EQ(std::vector<std::byte>(file.begin(), file.end()), known_file(i)) << i;
      EXPECT_EQ(dataset.name(i), "folder/" + std::string(static_cast<std::size_t>(i), 'x'));
      EXPECT_EQ(dataset.label(i), i % 2);
    }
    EXPECT_EQ(verify_file(path), std::nullopt);
    EXPECT_THROW(dataset.read_file(count, memory), Error);
    EXPECT_THROW(dataset.read_pixels(0, memory), Error);
  }
}

std::size_t allocated_bytes() {
  const struct mallinfo2 info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
}

// An import keeps the writers of all its shards until the end.
TEST(ShardWriter, KeepsNoListsInMemoryAfterTheLastSample) {
  constexpr std::int64_t kCount = 50'000;
  const TemporaryDirectory directory;
  const std::string path = directory / "train.h5";
  const std::size_t before = allocated_bytes();
  ShardWriter writer({path, 0, 1}, encoded_info(kCount));
  const std::vector<std::byte> file(1);
  for (std::int64_t i = 0; i < kCount; ++i)
    writer.append(file, {.label = static_cast<std::int32_t>(i % 2)}, std::to_string(i));
  writer.end_samples();
  EXPECT_LT(allocated_bytes(), before + kCount);
  writer.finish(encoded_info(kCount));
  EXPECT_LT(allocated_bytes(), before + kCount);
  writer.commit();
  EXPECT_EQ(verify_file(path), std::nullopt);
  EXPECT_EQ(Dataset(path, "data.train").name(kCount - 1), std::to_string(kCount - 1));
}

TEST(ShardWriter, WithFewerSamplesThanThereWasPlaceForGivesTheSameFile) {
  const TemporaryDirectory directory;
  write(directory / "a.h5", encoded_info(20), 20);
  for (const std::int64_t capacity : {21, 40, 1000}) {
    write(directory / "b.h5", encoded_info(capacity), 20);
    EXPECT_TRUE(read_file(directory / "a.h5") == read_file(directory / "b.h5")) << capacity;
    EXPECT_EQ(verify_file(directory / "b.h5"), std::nullopt);
  }
}

TEST(ShardWriter, RefusesWhatDoesNotFit) {
  const TemporaryDirectory directory;
  ShardWriter writer({directory / "a.h5", 0, 1}, encoded_info(1));
  EXPECT_THROW(writer.append({}, {.label = 0}, ""), Error);
  writer.append(known_file(1), {.label = 0}, "");
  EXPECT_THROW(writer.append(known_file(1), {.label = 0}, ""), Error);
}

TEST(ShardWriter, LeavesNothingWhenItIsGivenUp) {
  const TemporaryDirectory directory;
  {
    ShardWriter writer({directory / "a.h5", 0, 1}, encoded_info(3));
    writer.append(known_file(2), {.label = 0}, "x");
    writer.end_samples();
    writer.finish(encoded_info(3));
  }
  EXPECT_EQ(directory.num_files(), 0u);
}

TEST(ShardWriter, DamagedFilesAndNamesAreFoundOnRequest) {
  const TemporaryDirectory directory;
  const std::string path = directory / "a.h5";
  write(path, encoded_info(5), 5);
  const std::vector<std::byte> whole = read_file(path);
  for (const std::size_t from_end : {65u, 75u, 300u}) {  // the trailer has 64
    std::vector<std::byte> bytes = whole;
    bytes[bytes.size() - from_end] ^= std::byte{1};
    write_file_atomically(path, bytes);
    const auto damage = verify_file(path);
    ASSERT_TRUE(damage);
    EXPECT_NE(damage->find("hash of its images and names"), std::string::npos);
  }
}

TEST(ShardWriter, IsDescribed) {
  const TemporaryDirectory directory;
  write(directory / "a.h5", encoded_info(3), 3);
  const std::string text = describe_file(directory / "a.h5");
  for (const std::string part : {"the original files (encoded), 84 B on average; in colour", "3 samples, 1 to 2 each",
                                 "names         of the files", "hash          "}) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace convoy::io
