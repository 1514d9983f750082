/// Thousands of damaged files: each is decoded or refused with a reason; none crashes, hangs or takes the machine's
/// memory. Under AddressSanitizer this also looks for reads and writes out of place.
#include <cstring>
#include <filesystem>

#include <gtest/gtest.h>

#include "convoy/base/error.h"
#include "convoy/io/atomic_file.h"
#include "convoy/io/inspect.h"
#include "convoy/io/shard_writer.h"

#include "data/images/cifar_files.h"
#include "data/images/decode_image.h"
#include "data/images/idx_files.h"
#include "unit/data/idx_files.h"
#include "unit/data/image_files.h"
#include "unit/io/dataset_samples.h"
#include "unit/io/temporary_directory.h"
#include "unit/mutations.h"

namespace convoy {
namespace {

using test::Bytes;
using test::judge_mutations;
using test::LengthField;
using test::TemporaryDirectory;
using test::Verdicts;
using test::write_bytes;

Bytes bytes_of(const std::string& text) {
  Bytes bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

std::string text_of(const Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::byte pattern(std::size_t i) {
  return static_cast<std::byte>(i * 7 + i / 256);
}

// --- Images ----------------------------------------------------------------------------------------------------------

/// Returns lengths of the segments up to the first scan, and height and width.
std::vector<LengthField> lengths_in_jpeg(const Bytes& file) {
  std::vector<LengthField> fields;
  for (std::size_t at = 2; file.at(at + 1) != std::byte{0xda};) {
    const auto marker = std::to_integer<int>(file[at + 1]);
    fields.push_back({at + 2, 2, std::endian::big});
    if (marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xcc) {
      fields.push_back({at + 5, 2, std::endian::big});
      fields.push_back({at + 7, 2, std::endian::big});
    }
    at += 2 + (std::to_integer<std::size_t>(file[at + 2]) << 8 | std::to_integer<std::size_t>(file[at + 3]));
  }
  return fields;
}

TEST(Mutation, JpegsAreDecodedOrRefused) {
  ImageDecoder decoder;
  for (const test::JpegSpec& spec :
       {test::JpegSpec{.quality = 75}, test::JpegSpec{.progressive = true, .quality = 75},
        test::JpegSpec{.arithmetic = true, .quality = 75}, test::JpegSpec{.across = 2, .down = 2, .quality = 75},
        test::JpegSpec{.channels = 4, .ycck = true, .quality = 75}}) {
    const Bytes file = make_jpeg(spec);
    int number = 0;
    const Verdicts verdicts = judge_mutations(
        {.file = file, .lengths = lengths_in_jpeg(file)}, {.count = 2000, .names = "it is "}, [&](const Bytes& bytes) {
          DecodeRequest request{.channels = ++number % 2 == 0 ? 1 : 3, .min_h = number % 32, .min_w = number % 32};
          if (number % 3 == 0) {  // the lower right quarter or more
            const ImageShape shape = decoded_shape(decoder.read_header(bytes), request);
            request.window = {number % 5 == 0 ? 0 : shape.h / 2, shape.w / 2, shape.h - shape.h / 4, shape.w};
          }
          const ImageView image = decoder.decode(bytes, request);
          EXPECT_LE(image.shape.h, kMaxImageSide);
        });
    EXPECT_GT(verdicts.num_refused, 500);
    EXPECT_GT(verdicts.num_read, 100);  // a flipped bit among the coefficients is another picture
  }
}

// The segment itself is valid: whatever it holds, the picture is read, stored or turned.
TEST(Mutation, ExifIsReadOrIgnored) {
  ImageDecoder decoder(true);
  const Bytes jpeg = test::make_jpeg({.h = 24, .w = 20});
  for (const bool big_endian : {false, true}) {
    const auto order = big_endian ? std::endian::big : std::endian::little;
    const Bytes tiff = test::make_tiff({.orientation = 6, .big_endian = big_endian});
    int num_turned = 0, num_as_stored = 0;
    const Verdicts verdicts = judge_mutations(
        {.file = tiff,
         .lengths = {{4, 4, order}, {8, 2, order}, {10 + 2 * 12 + 4, 4, order}, {10 + 2 * 12 + 8, 2, order}}},
        {.count = 3000}, [&](const Bytes& bytes) {
          const ImageShape shape = decoder.decode(test::with_exif(jpeg, bytes), {}).shape;
          ++(shape == ImageShape{20, 24, 3} ? num_turned : num_as_stored);
          EXPECT_TRUE(shape == (ImageShape{20, 24, 3}) || shape == (ImageShape{24, 20, 3})) << to_string(shape);
        });
    EXPECT_EQ(verdicts.num_refused, 0);
    EXPECT_GT(num_turned, 300);
    EXPECT_GT(num_as_stored, 300);
  }
}

TEST(Mutation, JpegsWithExifAreDecodedOrRefused) {
  ImageDecoder decoder(true);
  const Bytes file = test::with_exif(test::make_jpeg({.quality = 75}), test::make_tiff({.orientation = 5}));
  int number = 0;
  const Verdicts verdicts = judge_mutations(
      {.file = file, .lengths = lengths_in_jpeg(file)}, {.count = 2000, .names = "it is "}, [&](const Bytes& bytes) {
        DecodeRequest request{.channels = 3, .min_h = ++number % 32, .min_w = number % 32};
        const ImageShape shape = decoded_shape(decoder.read_header(bytes), request);
        if (number % 3 == 0) request.window = {shape.h / 2, 0, shape.h, shape.w - shape.w / 4};
        EXPECT_LE(decoder.decode(bytes, request).shape.h, kMaxImageSide);
      });
  EXPECT_GT(verdicts.num_refused, 500);
  EXPECT_GT(verdicts.num_read, 100);
}

/// Returns lengths of the chunks, and width and height, which are in the first.
std::vector<LengthField> lengths_in_png(const Bytes& file) {
  std::vector<LengthField> fields = {{16, 4, std::endian::big}, {20, 4, std::endian::big}};
  for (std::size_t at = 8; at < file.size();) {
    fields.push_back({at, 4, std::endian::big});
    std::size_t length = 0;
    for (std::size_t i = 0; i < 4; ++i) length = length << 8 | std::to_integer<std::size_t>(file[at + i]);
    at += 12 + length;
  }
  return fields;
}

TEST(Mutation, PngsAreDecodedOrRefused) {
  ImageDecoder decoder;
  for (const test::PngSpec& spec :
       {test::PngSpec{.text = "a comment"}, test::PngSpec{.color_type = 3, .bit_depth = 4, .interlaced = true},
        test::PngSpec{.color_type = 6, .bit_depth = 16}}) {
    const Bytes file = make_png(spec);
    const Verdicts verdicts =
        judge_mutations({.file = file, .lengths = lengths_in_png(file)}, {.count = 2000, .names = "it is "},
                        [&](const Bytes& bytes) { decoder.decode(bytes, {}); });
    EXPECT_GT(verdicts.num_refused, 1500);  // all but the comment is under a checksum
  }
}

// --- CIFAR -----------------------------------------------------------------------------------------------------------

constexpr std::size_t kPlaneBytes = 1024, kImageBytes = 3 * kPlaneBytes;

struct CifarCase {
  std::string train_file;
  std::size_t label_bytes;
};

void expect_content(const Bytes& file, const CifarCase& c, ImageSource& source) {
  const SourceSplit& split = source.listing().splits[0];
  const std::size_t record_bytes = c.label_bytes + kImageBytes;
  ASSERT_EQ(static_cast<std::size_t>(split.size()) * record_bytes, file.size());
  for (std::int64_t i = 0; i < split.size(); ++i) {
    const std::byte* const record = file.data() + static_cast<std::size_t>(i) * record_bytes;
    ASSERT_EQ(split.labels[static_cast<std::size_t>(i)], std::to_integer<int>(record[c.label_bytes - 1]));
    const ImageView image = source.read(split, i, {});
    for (std::size_t p = 0; p < kPlaneBytes; ++p) {
      for (std::size_t k = 0; k < 3; ++k)
        ASSERT_EQ(image.pixels[3 * p + k], std::to_integer<int>(record[c.label_bytes + k * kPlaneBytes + p]));
    }
  }
}

TEST(Mutation, CifarFilesAreReadOrRefusedByName) {
  for (const CifarCase& c : {CifarCase{"data_batch_1.bin", 1}, CifarCase{"train.bin", 2}}) {
    SCOPED_TRACE(c.train_file);
    const TemporaryDirectory directory;
    Bytes file(3 * (c.label_bytes + kImageBytes));
    for (std::size_t i = 0; i < file.size(); ++i) file[i] = pattern(i);
    for (std::size_t i = 0; i < 3; ++i) file[i * (c.label_bytes + kImageBytes) + c.label_bytes - 1] = std::byte{7};
    const std::string path = directory / c.train_file;
    const Verdicts verdicts =
        judge_mutations({.file = file}, {.count = 2000, .names = "'" + path + "'"}, [&](const Bytes& bytes) {
          write_bytes(path, bytes);
          expect_content(bytes, c, *open_cifar(directory.path()));
        });
    EXPECT_GT(verdicts.num_refused, 500);
    EXPECT_GT(verdicts.num_read, 500);
  }
}

TEST(Mutation, CifarsClassNamesAreTenOrRefusedByName) {
  const TemporaryDirectory directory;
  write_bytes(directory / "data_batch_1.bin", Bytes(1 + kImageBytes, std::byte{3}));
  const std::string path = directory / "batches.meta.txt";
  const Bytes file = bytes_of("airplane\nautomobile\nbird\ncat\ndeer\ndog\nfrog\nhorse\nship\ntruck\n\n");
  const Verdicts verdicts =
      judge_mutations({.file = file, .marks = "\n\r "}, {.names = "'" + path + "'"}, [&](const Bytes& bytes) {
        write_bytes(path, bytes);
        EXPECT_EQ(open_cifar(directory.path())->listing().class_names.size(), 10u);
      });
  EXPECT_GT(verdicts.num_refused, 500);
  EXPECT_GT(verdicts.num_read, 500);
}

// --- IDX -------------------------------------------------------------------------------------------------------------

class IdxMutation : public testing::Test {
 protected:
  IdxMutation() {
    for (std::size_t i = 0; i < 600; ++i) images_.push_back(pattern(i));
    for (std::size_t i = 0; i < 20; ++i) labels_.push_back(static_cast<std::byte>(i % 3));
    put_images(images_);
    put_labels(labels_);
  }

  void put_images(const Bytes& bytes) const { write_bytes(directory_ / "images", bytes); }
  void put_labels(const Bytes& bytes) const { write_bytes(directory_ / "labels", bytes); }
  IdxSplit read() const { return read_idx(directory_ / "images", directory_ / "labels"); }

  static void expect_values(const std::vector<std::uint8_t>& got, const Bytes& file, std::size_t header_bytes) {
    ASSERT_EQ(got.size() + header_bytes, file.size());
    EXPECT_EQ(std::memcmp(got.data(), file.data() + header_bytes, got.size()), 0);
  }
  static void expect_labels(const std::vector<std::int32_t>& got, const Bytes& file) {
    ASSERT_EQ(got.size() + 8, file.size());
    for (std::size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], std::to_integer<int>(file[8 + i]));
  }

  // The dimensions are lengths.
  static std::vector<LengthField> dims(std::size_t count) {
    std::vector<LengthField> fields;
    for (std::size_t i = 0; i < count; ++i) fields.push_back({4 + 4 * i, 4, std::endian::big});
    return fields;
  }

  TemporaryDirectory directory_;
  Bytes images_ = bytes_of(test::idx_header({20, 6, 5})), labels_ = bytes_of(test::idx_header({20}));
};

TEST_F(IdxMutation, ImagesAreThoseInTheFileOrRefusedByName) {
  const Verdicts verdicts = judge_mutations({.file = images_, .lengths = dims(3), .head_bytes = 20},
                                            {.names = directory_ / "images"}, [&](const Bytes& bytes) {
                                              put_images(bytes);
                                              expect_values(read().images, bytes, 16);
                                            });
  EXPECT_GT(verdicts.num_refused, 1000);
  EXPECT_GT(verdicts.num_read, 300);
}

TEST_F(IdxMutation, LabelsAreThoseInTheFileOrRefusedByName) {
  const Verdicts verdicts = judge_mutations({.file = labels_, .lengths = dims(1), .head_bytes = 10},
                                            {.names = directory_ / "labels"}, [&](const Bytes& bytes) {
                                              put_labels(bytes);
                                              expect_labels(read().labels, bytes);
                                            });
  EXPECT_GT(verdicts.num_refused, 1000);
  EXPECT_GT(verdicts.num_read, 200);
}

// A file in which only gzip's own header changes (its time, its system) is read, and has its old content.
TEST_F(IdxMutation, GzippedOnesAreWhatTheyWereOrRefusedByName) {
  const IdxSplit known = read();
  const Verdicts of_images = judge_mutations({.file = bytes_of(test::gzipped(text_of(images_))), .head_bytes = 20},
                                             {.names = directory_ / "images"}, [&](const Bytes& bytes) {
                                               put_images(bytes);
                                               EXPECT_TRUE(read().images == known.images) << "damage that is not seen";
                                             });
  EXPECT_GT(of_images.num_refused, 2000);
  put_images(images_);
  const Verdicts of_labels = judge_mutations({.file = bytes_of(test::gzipped(text_of(labels_))), .head_bytes = 20},
                                             {.names = directory_ / "labels"}, [&](const Bytes& bytes) {
                                               put_labels(bytes);
                                               EXPECT_TRUE(read().labels == known.labels) << "damage that is not seen";
                                             });
  EXPECT_GT(of_labels.num_refused, 2000);
}

// The stream is valid, its content is not.
TEST_F(IdxMutation, GzipAroundDamageIsReadOrRefusedByName) {
  const Verdicts verdicts = judge_mutations({.file = images_, .lengths = dims(3), .head_bytes = 20},
                                            {.names = directory_ / "images"}, [&](const Bytes& bytes) {
                                              put_images(bytes_of(test::gzipped(text_of(bytes))));
                                              expect_values(read().images, bytes, 16);
                                            });
  EXPECT_GT(verdicts.num_refused, 1000);
  EXPECT_GT(verdicts.num_read, 300);
}

// --- Shards ----------------------------------------------------------------------------------------------------------

TEST(Mutation, EncodedShardsAreWholeOrRefusedByName) {
  const TemporaryDirectory directory;
  const std::string path = directory / "train.h5";
  io::DatasetInfo info;
  info.encoded = true;
  info.image = {0, 0, 3};
  info.class_names = {"a", "b"};
  info.class_counts = {10, 10};
  info.channel_mean = info.channel_stddev = {0.5, 0.5, 0.5};
  info.num_samples = 20;
  io::ShardWriter writer({path, 0, 1}, info);
  const Bytes image = test::make_jpeg({.h = 8, .w = 8});
  for (int i = 0; i < 20; ++i) writer.append(image, {.label = i % 2}, fmt::format("x/{}", i));
  writer.end_samples();
  writer.finish(info);
  writer.commit();
  const Bytes file = io::read_file(path);
  // An image is decoded from bytes that were not verified; verify() reports all that changed.
  const Verdicts verdicts = judge_mutations(
      {.file = file, .lengths = test::lengths_in_shard(file)}, {.count = 2000, .names = path}, [&](const Bytes& bytes) {
        write_bytes(path, bytes);
        const io::Dataset dataset(path, "data.train", VerifyKind::kNone);
        ImageDecoder decoder;
        std::vector<std::byte> memory;
        int bad = 0;
        for (std::int64_t i = 0; i < dataset.info().num_samples; ++i) {
          try {
            decoder.decode(dataset.read_file(i, memory), {});
            EXPECT_LE(dataset.name(i).size(), 4u);
          } catch (const Error&) {
            ++bad;
          }
        }
        EXPECT_EQ(io::verify_file(path).has_value(), bytes != file) << "damage that is not seen";
        EXPECT_TRUE(bad == 0 || io::verify_file(path));
      });
  EXPECT_GT(verdicts.num_refused, 1000);
  EXPECT_GT(verdicts.num_read, 100);
}

}  // namespace
}  // namespace convoy
