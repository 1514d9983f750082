/// Thousands of damaged files: each is decoded or refused with a reason; none crashes, hangs or takes the machine's
/// memory. Under AddressSanitizer this also looks for reads and writes out of place.
#include <fstream>

#include <gtest/gtest.h>

#include "convoy/base/error.h"
#include "convoy/base/random.h"
#include "convoy/data/import_idx.h"
#include "convoy/io/checkpoint.h"
#include "convoy/io/inspect.h"
#include "convoy/io/shard_writer.h"

#include "data/cifar_files.h"
#include "data/decode_image.h"
#include "unit/data/image_files.h"
#include "unit/io/temporary_directory.h"

namespace convoy {
namespace {

using Bytes = std::vector<std::byte>;
using test::TemporaryDirectory;

/// The `number`-th damage of a file: bytes changed, cut out, doubled, or the end cut off.
Bytes damaged(const Bytes& file, std::uint64_t number) {
  const RandomKey key{.seed = 1, .item = number};
  std::uint64_t index = 0;
  const auto below = [&](std::size_t bound) { return static_cast<std::ptrdiff_t>(random_below(key, index++, bound)); };
  Bytes bytes = file;
  for (std::ptrdiff_t changes = 1 + below(4); changes > 0; --changes) {
    if (bytes.empty()) return bytes;
    const auto at = bytes.begin() + below(bytes.size());
    const auto length = std::min<std::ptrdiff_t>(1 + below(16), bytes.end() - at);
    switch (below(8)) {
      case 0:
        bytes.erase(at, bytes.end());
        break;
      case 1:
        bytes.erase(at, at + length);
        break;
      case 2: {
        const Bytes again(at, at + length);
        bytes.insert(at, again.begin(), again.end());
        break;
      }
      case 3:
        *at = below(2) == 0 ? std::byte{0xff} : std::byte{0};
        break;
      case 4: {  // near the start, where the headers are
        const auto head = bytes.begin() + below(std::min<std::size_t>(bytes.size(), 64));
        *head = static_cast<std::byte>(below(256));
        break;
      }
      default:
        *at ^= static_cast<std::byte>(1 << below(8));
    }
  }
  return bytes;
}

struct Outcome {
  int good = 0, refused = 0;
};

/// Each damage ends in success or an Error that `names` what it is about.
template <typename Read>
Outcome read_damaged(const Bytes& file, int count, const std::string& names, const Read& read) {
  Outcome outcome;
  for (int number = 0; number < count; ++number) {
    try {
      read(damaged(file, static_cast<std::uint64_t>(number)));
      ++outcome.good;
    } catch (const Error& error) {
      ++outcome.refused;
      EXPECT_NE(std::string(error.what()).find(names), std::string::npos) << number << ": " << error.what();
    }
  }
  return outcome;
}

void put(const std::string& path, const Bytes& bytes) {
  test::write_bytes(path, bytes);
}

TEST(Mutation, JpegsAreDecodedOrRefused) {
  ImageDecoder decoder;
  for (const test::JpegSpec& spec : {test::JpegSpec{.quality = 75}, test::JpegSpec{.progressive = true, .quality = 75},
                                     test::JpegSpec{.arithmetic = true, .quality = 75},
                                     test::JpegSpec{.channels = 4, .ycck = true, .quality = 75}}) {
    int number = 0;
    const Outcome outcome = read_damaged(make_jpeg(spec), 1500, "it is ", [&](const Bytes& bytes) {
      const ImageView image = decoder.decode(bytes, {.channels = ++number % 2 == 0 ? 1 : 3, .at_least_h = number % 32});
      EXPECT_LE(image.shape.h, kMostImageSide);
    });
    EXPECT_GT(outcome.refused, 300);
    EXPECT_GT(outcome.good, 100);  // a flipped bit among the coefficients is another picture
  }
}

TEST(Mutation, PngsAreDecodedOrRefused) {
  ImageDecoder decoder;
  for (const test::PngSpec& spec :
       {test::PngSpec{.text = "a comment"}, test::PngSpec{.color_type = 3, .bit_depth = 4, .interlaced = true},
        test::PngSpec{.color_type = 6, .bit_depth = 16}}) {
    const Outcome outcome =
        read_damaged(make_png(spec), 1500, "it is ", [&](const Bytes& bytes) { decoder.decode(bytes, {}); });
    EXPECT_GT(outcome.refused, 1000);  // all but the comment is under a checksum
  }
}

TEST(Mutation, CifarFilesAreReadOrRefusedByName) {
  const TemporaryDirectory directory;
  Bytes file(3 * 3073, std::byte{3});
  const std::string path = directory / "data_batch_1.bin";
  const Outcome outcome = read_damaged(file, 400, path, [&](const Bytes& bytes) {
    put(path, bytes);
    const auto source = open_cifar(directory.path());
    for (std::int64_t i = 0; i < source->listing().splits[0].size(); ++i)
      source->read(source->listing().splits[0], i, {});
  });
  EXPECT_GT(outcome.refused, 50);
  EXPECT_GT(outcome.good, 50);
}

TEST(Mutation, IdxFilesAreReadOrRefusedByName) {
  const TemporaryDirectory directory;
  Bytes images = {std::byte{0}, std::byte{0}, std::byte{8}, std::byte{3}};
  Bytes labels = {std::byte{0}, std::byte{0}, std::byte{8}, std::byte{1}};
  for (const int dim : {20, 6, 5}) {
    images.insert(images.end(), {std::byte{0}, std::byte{0}, std::byte{0}, static_cast<std::byte>(dim)});
  }
  labels.insert(labels.end(), {std::byte{0}, std::byte{0}, std::byte{0}, std::byte{20}});
  images.resize(images.size() + 600, std::byte{9});
  labels.resize(labels.size() + 20, std::byte{1});
  put(directory / "labels", labels);
  const Outcome outcome = read_damaged(images, 400, directory / "images", [&](const Bytes& bytes) {
    put(directory / "images", bytes);
    EXPECT_EQ(read_idx(directory / "images", directory / "labels").images.size(), 600u);
  });
  EXPECT_GT(outcome.refused, 100);
  EXPECT_GT(outcome.good, 50);
}

TEST(Mutation, EncodedShardsAreWholeOrRefusedByName) {
  const TemporaryDirectory directory;
  const std::string path = directory / "train.h5";
  io::DatasetInfo info;
  info.encoded = true;
  info.image = {0, 0, 3};
  info.class_names = {"a", "b"};
  info.class_counts = {10, 10};
  info.channel_mean = info.channel_deviation = {0.5, 0.5, 0.5};
  info.num_samples = 20;
  io::ShardWriter writer({path, 0, 1}, info);
  const Bytes image = test::make_jpeg({.h = 8, .w = 8});
  for (int i = 0; i < 20; ++i) writer.append(image, i % 2, fmt::format("x/{}", i));
  writer.end_samples();
  writer.finish(info);
  writer.commit();
  const Bytes file = io::read_file(path);
  const Outcome outcome = read_damaged(file, 1000, path, [&](const Bytes& bytes) {
    put(path, bytes);
    const io::Dataset dataset(path, "data.train");
    ImageDecoder decoder;
    int bad = 0;
    for (std::int64_t i = 0; i < dataset.info().num_samples; ++i) {
      try {
        decoder.decode(dataset.encoded(i), {});
        EXPECT_LE(dataset.name(i).size(), 4u);
      } catch (const Error&) {
        ++bad;
      }
    }
    EXPECT_EQ(io::verify_file(path).has_value(), bytes != file) << "damage that is not seen";
    EXPECT_TRUE(bad == 0 || dataset.find_damage());
  });
  EXPECT_GT(outcome.refused, 300);
}

}  // namespace
}  // namespace convoy
