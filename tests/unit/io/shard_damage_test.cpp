/// No flipped bit and no truncation of a shard causes a crash or a hang, or goes unnoticed; damage of an image is found
/// when the image is read.
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "convoy/base/error.h"
#include "convoy/io/atomic_file.h"
#include "convoy/io/dataset.h"
#include "convoy/io/inspect.h"

#include "io/shard.h"
#include "unit/io/dataset_samples.h"
#include "unit/io/temporary_directory.h"
#include "unit/messages.h"

namespace convoy::io {
namespace {

using test::message_of;

class ShardDamage : public testing::Test {
 protected:
  ShardDamage() {
    test::DatasetContent content = test::make_content({.image = {6, 5, 1}, .num_samples = 40, .num_classes = 3});
    test::write_dataset(directory_.path(), "train", 1, content);
    bytes_ = read_file(path_);
    images_offset_ = open_shard(path_).trailer.body_offset;
    images_bytes_ = content.images.size();
  }

  void put(std::span<const std::byte> bytes) const { test::write_bytes(path_, bytes); }
  /// Overwrites the file in place: readers that have it open see the new bytes.
  void overwrite(std::span<const std::byte> bytes) const {
    std::fstream(path_, std::ios::in | std::ios::out | std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  std::span<std::byte> head() { return std::span(bytes_).first(images_offset_); }
  /// Writes the changed bytes with a new hash of the head.
  void put_sealed() {
    const std::vector<std::byte> trailer = encode_shard_trailer(open_shard(path_).trailer, head());
    std::copy(trailer.begin(), trailer.end(), bytes_.end() - std::ssize(trailer));
    put(bytes_);
  }
  std::string refusal() const {
    return message_of<RequestError>([&] { Dataset(path_, "data.train"); });
  }

  test::TemporaryDirectory directory_;
  std::string path_ = directory_ / "train.h5";
  std::vector<std::byte> bytes_;
  std::size_t images_offset_ = 0;
  std::size_t images_bytes_ = 0;
};

TEST_F(ShardDamage, EveryFlippedByteOutsideTheImagesIsRefusedWithAReason) {
  const std::size_t trailer_offset = images_offset_ + images_bytes_;
  ASSERT_EQ(trailer_offset + kShardTrailerBytes, bytes_.size());
  // All of the superblock and of the trailer, every third byte between.
  for (std::size_t i = 0; i < bytes_.size(); i += (i < 128 || i >= trailer_offset) ? 1 : 3) {
    if (i >= images_offset_ && i < trailer_offset) {
      i = trailer_offset - 3;
      continue;
    }
    for (const auto flip : {std::byte{0x01}, std::byte{0xff}}) {
      bytes_[i] ^= flip;
      put(bytes_);
      const std::string message = refusal();
      EXPECT_TRUE(message.starts_with("data.train: shard '" + path_ + "': it ")) << "byte " << i << ": " << message;
      EXPECT_TRUE(verify_file(path_)) << i;
      bytes_[i] ^= flip;
    }
  }
  put(bytes_);
  EXPECT_EQ(verify_file(path_), std::nullopt);
}

// The shard is whole, with a right hash, but its attribute has an older number.
TEST_F(ShardDamage, AnOlderFormatIsRefusedWithTheKeyThatReplacesIt) {
  const auto name = std::as_bytes(std::span("format"));
  const std::array<std::byte, 8> three = {std::byte{3}};
  const auto after_name = std::search(head().begin(), head().end(), name.begin(), name.end());
  const auto value = std::search(after_name, head().end(), three.begin(), three.end());
  ASSERT_NE(value, head().end());
  *value = std::byte{2};
  put_sealed();
  EXPECT_CONTAINS(
      refusal(), "it has format 2, but this program reads format 3. Import the data again, with import.replace = true");
}

TEST_F(ShardDamage, AShardThatDoesNotSayItsKindOfInputIsOfImages) {
  const auto name = std::as_bytes(std::span("kind"));
  const auto found = std::search(head().begin(), head().end(), name.begin(), name.end());
  ASSERT_NE(found, head().end());
  found[3] = std::byte{'e'};  // "kine": no reader knows it, and it keeps the place of "kind" in the order of names
  put_sealed();
  EXPECT_EQ(Dataset(path_, "data.train").info().kind, "images");
}

TEST_F(ShardDamage, AShardOfAnotherKindOfInputIsRefusedWithTheFileAndBothKinds) {
  test::DatasetContent content = test::make_content({.image = {6, 5, 1}, .num_samples = 40, .num_classes = 3});
  content.info.kind = "sounds";
  test::write_dataset(directory_.path(), "train", 1, content);
  EXPECT_EQ(refusal(),
            "data.train: shard '" + path_ + "': it holds sounds, but this program reads only images, text, arrays");
}

TEST_F(ShardDamage, EveryTruncationIsRefusedWithAReason) {
  for (std::size_t size = 0; size < bytes_.size(); size += size < bytes_.size() - 200 ? 7 : 1) {
    put(std::span(bytes_).first(size));
    const std::string message = refusal();
    EXPECT_TRUE(message.starts_with("data.train: shard '" + path_ + "': it is ")) << size << ": " << message;
  }
}

TEST_F(ShardDamage, MissingMiddleAndAppendedBytesAreRefused) {
  std::vector<std::byte> shorter = bytes_;
  shorter.erase(shorter.begin() + static_cast<std::ptrdiff_t>(images_offset_) + 10);
  put(shorter);
  EXPECT_NE(refusal().find("truncated or damaged"), std::string::npos) << refusal();
  std::vector<std::byte> longer = bytes_;
  longer.push_back(std::byte{0});
  put(longer);
  EXPECT_NE(refusal().find("its last 64 bytes"), std::string::npos) << refusal();
}

// Samples have 30 bytes.
TEST_F(ShardDamage, AFlippedByteOfAnImageIsRefusedWhenThatImageIsRead) {
  for (const std::size_t at : {0u, 29u, 30u, 599u, 1199u}) {
    std::vector<std::byte> damaged = bytes_;
    damaged[images_offset_ + at] ^= std::byte{0x01};
    put(damaged);
    const Dataset dataset(path_, "data.train");
    for (std::int64_t sample = 0; sample < 40; ++sample) {
      const auto read = [&] { test::read_sample(dataset, sample); };
      if (static_cast<std::size_t>(sample) == at / 30) {
        EXPECT_TRUE(message_of<StoreError>(read).starts_with(
            fmt::format("'{}' is damaged: the bytes of its image {} are not", path_, sample)));
      } else {
        EXPECT_NO_THROW(read());
      }
    }
    EXPECT_NO_THROW(
        test::read_sample(Dataset(path_, "data.train", VerifyKind::kNone), static_cast<std::int64_t>(at / 30)));
  }
}

TEST_F(ShardDamage, OverwrittenWhileItIsOpenIsFoundByTheNextReadWhereOnceIsNotEnough) {
  const Dataset each_time(path_, "data.train", VerifyKind::kEpoch), once(path_, "data.train", VerifyKind::kOnce);
  for (const Dataset* const dataset : {&each_time, &once}) test::read_sample(*dataset, 7);
  bytes_[images_offset_ + 7 * 30] ^= std::byte{0x80};
  bytes_[images_offset_ + 8 * 30] ^= std::byte{0x80};
  overwrite(bytes_);
  EXPECT_THROW(test::read_sample(each_time, 7), StoreError);
  EXPECT_NO_THROW(test::read_sample(once, 7));
  EXPECT_THROW(test::read_sample(once, 8), StoreError);
}

TEST_F(ShardDamage, CutShortWhileItIsOpenIsNamedByWhatIsReadPastItsEnd) {
  const Dataset dataset(path_, "data.train");
  std::filesystem::resize_file(path_, images_offset_ + 100);  // three images and a part of the fourth
  EXPECT_NO_THROW(test::read_sample(dataset, 2));
  for (const std::int64_t sample : {3, 4, 39}) {
    const std::string message = message_of<StoreError>([&] { test::read_sample(dataset, sample); });
    EXPECT_TRUE(message.starts_with("cannot read '" + path_ + "': it ended at byte ")) << message;
    EXPECT_CONTAINS(message, "Copy it back or import it again, then run the same command again");
  }
}

TEST_F(ShardDamage, FlippedImageByteIsFoundOnRequest) {
  for (std::size_t i = images_offset_; i < images_offset_ + images_bytes_; i += 97) {
    bytes_[i] ^= std::byte{0x10};
    put(bytes_);
    const Dataset dataset(path_, "data.train");  // can be opened: its images are not read then
    const auto damage = verify_file(path_);
    ASSERT_TRUE(damage) << i;
    EXPECT_NE(damage->find("hash of its images"), std::string::npos);
    bytes_[i] ^= std::byte{0x10};
  }
  put(bytes_);
  EXPECT_EQ(verify_file(path_), std::nullopt);
}

}  // namespace
}  // namespace convoy::io
