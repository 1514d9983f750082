/// A person who has only the file learns its content, and whether it is whole.
#include "convoy/io/inspect.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "convoy/base/error.h"
#include "convoy/base/version.h"
#include "convoy/io/atomic_file.h"
#include "convoy/io/checkpoint.h"
#include "convoy/io/dataset.h"
#include "convoy/io/safetensors.h"

#include "unit/io/checkpoint_samples.h"
#include "unit/io/dataset_samples.h"
#include "unit/io/temporary_directory.h"
#include "unit/messages.h"

namespace convoy::io {
namespace {

using test::message_of;
using test::TemporaryDirectory;

void expect_lines(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
}

TEST(Inspect, DescribesAShard) {
  const TemporaryDirectory directory;
  test::DatasetContent content = test::make_content();
  test::write_dataset(directory.path(), "train", 2, content);
  expect_lines(describe_file(directory / "train-001.h5"),
               {"shard 2 of 2", "input         images\n", "samples       10\n", "5x4x3",
                "4: class 0, class 1, class 2, class 3\n", "20 samples, 5 each",
                fmt::format("{:.4f}, ", content.info.channel_mean[0]), "made for a test", "KiB"});
}

TEST(Inspect, CountsTheSamplesOfTheLargestClasses) {
  const TemporaryDirectory directory;
  test::DatasetContent content = test::make_content({.num_samples = 132, .num_classes = 13});
  content.labels.assign(30, 12);
  for (std::int32_t c = 0; c < 12; ++c) content.labels.insert(content.labels.end(), 14u - static_cast<unsigned>(c), c);
  test::write_dataset(directory.path(), "train", 1, content);
  expect_lines(
      describe_file(directory / "train.h5"),
      {"3 to 30 each\n  of each       class 12: 30, class 0: 14, class 1: 13, class 2: 12, class 3: 11, class 4: 10, "
       "class 5: 9, class 6: 8, class 7: 7, class 8: 6 and 3 more\n"});
}

TEST(Inspect, DescribesACheckpoint) {
  const TemporaryDirectory directory;
  write_file_atomically(directory / "a.h5", encode_checkpoint(test::make_checkpoint(1234)));
  // 8*3*3*3 + 10 + 10*8 parameters, 8 running values; the momentum of two tensors: 216 + 10.
  expect_lines(
      describe_file(directory / "a.h5"),
      {"checkpoint\n", "input         images\n", "1234\n", "78976 seen, 64 per step", "10.00 %", "306 in 3 tensors",
       "8 in 1 tensor", "momentum      226 in 2 tensors", "KiB", fmt::format("written by    convoy {}\n", version())});
}

TEST(Inspect, DescribesAFolderOfCheckpointsByALineForEach) {
  const TemporaryDirectory directory;
  const std::vector<std::byte> bytes = encode_checkpoint(test::make_checkpoint(1234));
  write_file_atomically(checkpoint_path(directory.path(), 1234), bytes);
  write_file_atomically(best_checkpoint_path(directory.path()), std::span(bytes).first(bytes.size() / 2));
  const std::string text = describe(directory.path());
  expect_lines(text, {": checkpoints\n  best.h5           it is truncated",
                      "\n  step-00001234.h5  step 1234, best top-1 10.00 % at step "});
}

TEST(Inspect, DescribesAndVerifiesSafetensors) {
  const TemporaryDirectory directory;
  std::vector<std::byte> bytes = encode_safetensors({.tensors = test::make_checkpoint().model, .counters = {}});
  write_file_atomically(directory / "a.safetensors", bytes);
  expect_lines(describe_file(directory / "a.safetensors"),
               {"weights (safetensors)\n", "306 in 3 tensors", "8 in 1 tensor", "KiB"});
  EXPECT_EQ(verify_file(directory / "a.safetensors"), std::nullopt);
  bytes.pop_back();
  write_file_atomically(directory / "a.safetensors", bytes);
  EXPECT_NE(verify_file(directory / "a.safetensors").value_or("whole").find("truncated"), std::string::npos);
}

TEST(Inspect, DescribesADataSetByItsFolderOrPrefixAsOne) {
  const TemporaryDirectory directory;
  test::DatasetContent content = test::make_content();
  test::write_dataset(directory.path(), "train", 3, content);
  test::write_dataset(directory.path(), "test", 1, content);
  const std::string train = describe(directory / "train"), both = describe(directory.path());
  expect_lines(train, {(directory / "train") + ": data set, 3 shards\n", "samples       20\n", "20 samples, 5 each"});
  EXPECT_TRUE(both.starts_with(train)) << both;
  expect_lines(both.substr(train.size()), {(directory / "test") + ": data set, 1 shard\n", "samples       20\n"});
  EXPECT_EQ(describe(directory / "test.h5"), describe_file(directory / "test.h5"));
}

std::vector<std::string> damaged(const std::vector<Verdict>& verdicts) {
  std::vector<std::string> paths;
  for (const Verdict& verdict : verdicts)
    if (verdict.damage) paths.push_back(verdict.path);
  return paths;
}

TEST(Inspect, VerifiesEveryShardOfADataSetAndThatNoneIsMissing) {
  const TemporaryDirectory directory;
  test::DatasetContent content = test::make_content();
  test::write_dataset(directory.path(), "train", 3, content);
  test::write_dataset(directory.path(), "val", 2, content);
  EXPECT_EQ(verify(directory.path()).size(), 5u);
  EXPECT_EQ(damaged(verify(directory.path())), std::vector<std::string>{});
  std::vector<std::byte> bytes = read_file(directory / "train-001.h5");
  bytes[bytes.size() - 70] ^= std::byte{1};
  write_file_atomically(directory / "train-001.h5", bytes);
  EXPECT_EQ(damaged(verify(directory.path())), std::vector<std::string>{directory / "train-001.h5"});
  EXPECT_EQ(verify(directory / "val").size(), 2u);
  std::filesystem::remove(directory / "val-001.h5");
  const auto verdicts = verify(directory / "val");
  EXPECT_EQ(damaged(verdicts), std::vector<std::string>{directory / "val"});
  EXPECT_CONTAINS(verdicts.back().damage.value_or(""), "was written as number 1 of 2, but is now number 1 of 1");
}

TEST(Inspect, AFolderOrPrefixWithoutADataSetIsSaidSo) {
  const TemporaryDirectory directory;
  EXPECT_CONTAINS(message_of<Error>([&] { describe(directory.path()); }), "this folder holds no data set");
  EXPECT_CONTAINS(message_of<Error>([&] { verify(directory / "absent"); }), "there is no such file or folder, nor '");
  EXPECT_CONTAINS(message_of<Error>([&] { describe(directory / "absent.h5"); }), "No such file");
  EXPECT_EQ(
      message_of<Error>([&] { Dataset(directory / "absent.h5", "data.test"); }),
      "data.test = " + (directory / "absent.h5") + ": there is no such file. Make a data set with 'convoy import'");
}

TEST(Inspect, ATruncatedCheckpointIsCalledOneByItsBeginningOrElseByItsName) {
  const TemporaryDirectory directory;
  const std::vector<std::byte> whole = encode_checkpoint(test::make_checkpoint());
  const auto says_checkpoint = [&](const std::string& name, std::size_t size) {
    const std::string path = directory / name;
    write_file_atomically(path, std::span(whole).first(size));
    const std::string message = message_of<Error>([&] { describe_file(path); });
    if (message.starts_with("checkpoint")) {
      EXPECT_EQ(verify_file(path), message);
    }
    return message.starts_with("checkpoint '" + path + "': it is truncated, or its end is damaged");
  };
  for (const std::size_t size : {whole.size() - 1, whole.size() - 32, whole.size() / 2}) {
    EXPECT_TRUE(says_checkpoint("step-00000001.h5", size)) << size;
    EXPECT_TRUE(says_checkpoint("copied.h5", size)) << size;
  }
  EXPECT_TRUE(says_checkpoint("best.h5", 100));
  EXPECT_FALSE(says_checkpoint("copied.h5", 100)) << "nothing tells it";
  test::DatasetContent content = test::make_content();
  test::write_dataset(directory.path(), "train", 1, content);
  std::vector<std::byte> shard = read_file(directory / "train.h5");
  shard.resize(shard.size() - 10);
  write_file_atomically(directory / "train.h5", shard);
  EXPECT_CONTAINS(message_of<Error>([&] { describe_file(directory / "train.h5"); }), "are not a shard's");
}

TEST(Inspect, NeitherIsSaidSo) {
  const TemporaryDirectory directory;
  std::ofstream(directory / "a.txt") << "hello";
  EXPECT_NE(message_of<Error>([&] { describe_file(directory / "a.txt"); }).find("it is not HDF5"), std::string::npos);
  EXPECT_NE(message_of<Error>([&] { describe_file(directory / "b"); }).find("No such file"), std::string::npos);
  EXPECT_TRUE(verify_file(directory / "a.txt"));
  EXPECT_TRUE(verify_file(directory / "b"));
}

TEST(Inspect, VerifiesCheckpoints) {
  const TemporaryDirectory directory;
  std::vector<std::byte> bytes = encode_checkpoint(test::make_checkpoint());
  write_file_atomically(directory / "a.h5", bytes);
  EXPECT_EQ(verify_file(directory / "a.h5"), std::nullopt);
  bytes[bytes.size() / 2] ^= std::byte{4};
  write_file_atomically(directory / "a.h5", bytes);
  const auto damage = verify_file(directory / "a.h5");
  ASSERT_TRUE(damage);
  EXPECT_NE(damage->find("hash"), std::string::npos);
}

}  // namespace
}  // namespace convoy::io
