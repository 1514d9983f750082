/// IDX files, plain and gzipped, are read as they were written, or refused with a reason: cut, mutated, too long,
/// contradictory.
#include "data/images/idx_files.h"

#include <cstring>
#include <fstream>

#include <gtest/gtest.h>

#include "convoy/base/error.h"

#include "unit/data/idx_files.h"
#include "unit/io/temporary_directory.h"
#include "unit/messages.h"

namespace convoy {
namespace {

using test::gzipped;
using test::message_of;
using test::TemporaryDirectory;

std::string idx(const std::vector<std::uint32_t>& dims, std::size_t num_values) {
  std::string bytes = test::idx_header(dims);
  for (std::size_t i = 0; i < num_values; ++i) bytes.push_back(static_cast<char>(i * 11 % 7));
  return bytes;
}

std::string images(std::uint32_t n, std::uint32_t h, std::uint32_t w) {
  return idx({n, h, w}, std::size_t{n} * h * w);
}
std::string labels(std::uint32_t n) {
  return idx({n}, n);
}

class ImportIdx : public testing::Test {
 protected:
  void put(const std::string& name, const std::string& bytes) const {
    std::ofstream(directory_ / name, std::ios::binary | std::ios::trunc) << bytes;
  }
  void put_split(const std::string& images_bytes, const std::string& labels_bytes) const {
    put("images", images_bytes);
    put("labels", labels_bytes);
  }
  IdxSplit read() const { return read_idx(directory_ / "images", directory_ / "labels"); }
  std::string refusal() const {
    return message_of<RequestError>([&] { read(); });
  }

  TemporaryDirectory directory_;
};

void expect_known(const IdxSplit& content) {
  EXPECT_EQ(content.image, (ImageShape{4, 3, 1}));
  ASSERT_EQ(content.images.size(), 60u);
  for (std::size_t i = 0; i < 60; ++i) EXPECT_EQ(content.images[i], i * 11 % 7);
  EXPECT_EQ(content.labels, (std::vector<std::int32_t>{0, 4, 1, 5, 2}));
}

TEST_F(ImportIdx, PlainAndGzippedInWhateverMixtureAreTheSame) {
  for (const bool gzip_images : {false, true}) {
    for (const bool gzip_labels : {false, true}) {
      put_split(gzip_images ? gzipped(images(5, 4, 3)) : images(5, 4, 3), gzip_labels ? gzipped(labels(5)) : labels(5));
      expect_known(read());
    }
  }
}

TEST_F(ImportIdx, SeveralGzipStreamsBehindEachOtherAreOneFile) {
  const std::string plain = images(5, 4, 3);
  put_split(gzipped(plain.substr(0, 30)) + gzipped(plain.substr(30)), labels(5));
  expect_known(read());
}

TEST_F(ImportIdx, EveryTruncationIsRefused) {
  for (const bool gzip : {false, true}) {
    const std::string whole = gzip ? gzipped(images(5, 4, 3)) : images(5, 4, 3);
    for (std::size_t size = 0; size < whole.size(); ++size) {
      put_split(whole.substr(0, size), labels(5));
      const std::string message = refusal();
      EXPECT_CONTAINS(message, directory_ / "images");
      EXPECT_CONTAINS(message, "truncated") << gzip << " at " << size;
    }
    put_split(images(5, 4, 3), "");
    const std::string whole_labels = gzip ? gzipped(labels(5)) : labels(5);
    for (std::size_t size = 0; size < whole_labels.size(); ++size) {
      put("labels", whole_labels.substr(0, size));
      EXPECT_CONTAINS(refusal(), directory_ / "labels");
    }
  }
}

TEST_F(ImportIdx, EveryChangedHeaderByteIsRefused) {
  std::string whole = images(5, 4, 3);
  for (std::size_t i = 0; i < 16; ++i) {
    for (const int flip : {1, 2, 4, 8, 16, 32, 64, 128, 255}) {
      whole[i] = static_cast<char>(whole[i] ^ flip);
      put_split(whole, labels(5));
      EXPECT_CONTAINS(refusal(), directory_ / "images") << "byte " << i << " flip " << flip;
      whole[i] = static_cast<char>(whole[i] ^ flip);
    }
  }
}

// A flip in gzip's own header may change nothing that counts (its time, system and flags for comments): what is read
// then must be right. All others are refused.
TEST_F(ImportIdx, ChangedGzipByteNeverGivesOtherImages) {
  std::string whole = gzipped(images(5, 4, 3));
  int num_refused = 0;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      whole[i] = static_cast<char>(whole[i] ^ (1 << bit));
      put_split(whole, labels(5));
      try {
        expect_known(read());
      } catch (const RequestError&) {
        ++num_refused;
      }
      whole[i] = static_cast<char>(whole[i] ^ (1 << bit));
    }
  }
  // 10 bytes of gzip's header: 6 of them (time, extra flags, system) mean nothing to the content.
  EXPECT_GE(num_refused, static_cast<int>(8 * (whole.size() - 10)));
}

TEST_F(ImportIdx, TrailingBytesAreRefusedWithBothCounts) {
  put_split(images(5, 4, 3) + "x", labels(5));
  EXPECT_CONTAINS(refusal(), "too long: its 5x4x3 values need 60 bytes, but it holds 61");
  put_split(gzipped(images(5, 4, 3) + "xyz"), labels(5));
  EXPECT_CONTAINS(refusal(), "too long: its 5x4x3 values need 60 bytes, but it holds 63");
  put_split(gzipped(images(5, 4, 3)) + "xyz", labels(5));
  EXPECT_CONTAINS(refusal(), "3 bytes after the end of its gzip stream");
}

TEST_F(ImportIdx, TruncatedSaysBothCounts) {
  put_split(images(5, 4, 3).substr(0, 70), labels(5));
  EXPECT_CONTAINS(refusal(), "truncated: its 5x4x3 values need 60 bytes, but it can hold only 54");
  put_split(gzipped(images(5, 4, 3).substr(0, 70)), labels(5));
  EXPECT_CONTAINS(refusal(), "truncated: its 5x4x3 values need 60 bytes, but it holds 54");
}

TEST_F(ImportIdx, HugeClaimsAreRefusedBeforeMemoryIsTaken) {
  for (const bool gzip : {false, true}) {
    for (const auto& dims :
         {std::vector<std::uint32_t>{0xffffffff, 0xffffffff, 0xffffffff},
          std::vector<std::uint32_t>{0x80000000, 0x80000000, 4}, std::vector<std::uint32_t>{0xffffffff, 28, 28}}) {
      const std::string bytes = idx(dims, 100);
      put_split(gzip ? gzipped(bytes) : bytes, labels(5));
      EXPECT_CONTAINS(refusal(), directory_ / "images");
    }
  }
}

TEST_F(ImportIdx, EmptyOnesAreRefused) {
  put_split(images(0, 4, 3), labels(0));
  EXPECT_CONTAINS(refusal(), "is empty: its shape is ");
  put_split(images(5, 0, 3), labels(5));
  EXPECT_CONTAINS(refusal(), "is empty: its shape is ");
}

TEST_F(ImportIdx, ImagesAndLabelsOfDifferentNumberAreRefused) {
  put_split(images(5, 4, 3), labels(6));
  EXPECT_CONTAINS(refusal(), "holds 5 images");
  EXPECT_CONTAINS(refusal(), "6 labels");
}

TEST_F(ImportIdx, SwappedAndForeignFilesAreRefused) {
  put_split(labels(5), images(5, 4, 3));
  EXPECT_CONTAINS(refusal(), "begins with 00000801");
  put_split("P5 28 28 255 and so on", labels(5));
  EXPECT_CONTAINS(refusal(), "an IDX file of unsigned bytes with 3 dimensions begins with 00000803");
  EXPECT_CONTAINS(message_of<RequestError>([&] { read_idx(directory_ / "absent", directory_ / "labels"); }),
                  "No such file");
}

TEST_F(ImportIdx, FolderGivesBothSplitsWithTheSameClasses) {
  put("train-images-idx3-ubyte", images(5, 4, 3));
  put("train-labels-idx1-ubyte.gz", gzipped(labels(5)));
  put("t10k-images-idx3-ubyte.gz", gzipped(images(9, 4, 3)));
  put("t10k-labels-idx1-ubyte", labels(9));
  const std::unique_ptr<ImageSource> source = open_idx(directory_.path());
  ASSERT_EQ(source->listing().splits.size(), 2u);
  EXPECT_EQ(source->listing().splits[0].size(), 5);
  EXPECT_EQ(source->listing().splits[1].size(), 9);
  // Class 6 occurs in the test split only.
  EXPECT_EQ(source->listing().class_names, (std::vector<std::string>{"0", "1", "2", "3", "4", "5", "6"}));

  put("t10k-images-idx3-ubyte.gz", gzipped(images(9, 3, 4)));
  EXPECT_CONTAINS(message_of<RequestError>([&] { open_idx(directory_.path()); }), "images of 4x3x1");
  std::filesystem::remove(directory_ / "t10k-labels-idx1-ubyte");
  put("t10k-images-idx3-ubyte.gz", gzipped(images(9, 4, 3)));
  EXPECT_CONTAINS(message_of<RequestError>([&] { open_idx(directory_.path()); }), "t10k-labels-idx1-ubyte.gz'");
}

}  // namespace
}  // namespace convoy
