/// No flipped bit and no truncation of a shard crashes, hangs or passes; the images' are found when asked for.
#include <gtest/gtest.h>

#include "convoy/base/error.h"
#include "convoy/io/checkpoint.h"
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
      EXPECT_TRUE(message.starts_with("data.train: shard '" + path_ + "': it is ")) << "byte " << i << ": " << message;
      EXPECT_TRUE(verify_file(path_)) << i;
      bytes_[i] ^= flip;
    }
  }
  put(bytes_);
  EXPECT_EQ(verify_file(path_), std::nullopt);
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

TEST_F(ShardDamage, FlippedImageByteIsFoundOnRequest) {
  for (std::size_t i = images_offset_; i < images_offset_ + images_bytes_; i += 97) {
    bytes_[i] ^= std::byte{0x10};
    put(bytes_);
    const Dataset dataset(path_, "data.train");  // opens: its images are not read at the start
    const auto damage = dataset.find_damage();
    ASSERT_TRUE(damage) << i;
    EXPECT_NE(damage->find("hash of its images"), std::string::npos);
    EXPECT_TRUE(verify_file(path_)) << i;
    bytes_[i] ^= std::byte{0x10};
  }
  put(bytes_);
  EXPECT_EQ(Dataset(path_, "data.train").find_damage(), std::nullopt);
}

}  // namespace
}  // namespace convoy::io
