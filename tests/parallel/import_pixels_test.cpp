/// A folder of photographs, an import of it as pixels and one of its files: an evaluation sees the same bytes of all
/// three.
#include <algorithm>
#include <filesystem>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "convoy/base/error.h"
#include "convoy/base/features.h"
#include "convoy/base/random.h"
#include "convoy/data/import.h"
#include "convoy/data/loader.h"
#include "convoy/data/open_samples.h"
#include "convoy/params/data_parameters.h"

#include "data/images/image_path.h"
#include "parallel/mpi_main.h"
#include "parallel/shared_directory.h"
#include "unit/data/image_files.h"
#include "unit/messages.h"

namespace convoy {
namespace {

using test::world;

/// Slopes, noise and hard edges.
std::vector<std::uint8_t> photograph(int h, int w, std::uint64_t seed) {
  std::vector<std::uint8_t> pixels;
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x)
      for (int c = 0; c < 3; ++c) {
        const bool bar = (x + 2 * y + 17 * static_cast<int>(seed)) % 61 < 7;
        const auto noise = static_cast<int>(random_below({.seed = seed}, pixels.size(), 40));
        pixels.push_back(static_cast<std::uint8_t>(bar ? 240 - 90 * c : 60 + x * 90 / w + y * 60 / h + noise));
      }
  return pixels;
}

/// SOURCE/{train,test}/{ant,bee}: of all shapes and kinds of files, and held in all ways, as Exif says.
void write_photographs(const std::string& source) {
  const test::JpegSpec specs[] = {
      {.h = 241, .w = 322, .across = 2, .down = 2}, {.h = 322, .w = 241, .across = 2},
      {.h = 130, .w = 512, .across = 2, .down = 2}, {.h = 97, .w = 131},
      {.h = 301, .w = 64, .progressive = true},     {.h = 33, .w = 41, .across = 2, .down = 2},
      {.h = 640, .w = 480, .across = 2, .down = 2}, {.h = 256, .w = 256, .quality = 60}};
  for (const std::string folder : {"train/ant", "train/bee", "test/ant", "test/bee"}) {
    const std::string path = fmt::format("{}/{}", source, folder);
    std::filesystem::create_directories(path);
    test::write_bytes(path + "/0.png", test::make_png({.h = 75, .w = 100}));
    int number = 0;
    for (test::JpegSpec spec : specs) {
      ++number;
      spec.quality = std::min(spec.quality, 90);
      const auto file = test::make_jpeg(spec, photograph(spec.h, spec.w, static_cast<std::uint64_t>(number)));
      test::write_bytes(fmt::format("{}/{}.jpg", path, number),
                        test::with_exif(file, test::make_tiff({.orientation = number})));
    }
  }
}

/// All samples in order, as the network gets them.
std::vector<float> all_images(const io::SampleStore& samples, const AugmentationSpec& spec) {
  const auto backend = ops::make_backend({.device = DeviceKind::kCpu, .threads = 1});
  const Sampler sampler({.num_samples = samples.info().num_samples, .seed = 0, .shuffle = false});
  LoaderSpec loading;
  loading.batch_global = loading.batch_micro = samples.info().num_samples;
  const ImagePath path(samples, Augmenter(samples.info().image, spec, {0, 0, 0}, {1, 1, 1}), loading.batch_micro,
                       DataType::kFloat32);
  const TensorSpec& x = path.features().front().spec;
  loading.features = {{.name = features::kImage, .spec = x}};
  loading.num_micro_batches = loading.num_steps = loading.steps_per_epoch = 1;
  std::vector<float> images(static_cast<std::size_t>(x.shape.count()));
  Loader loader(path, sampler, *backend, loading);
  loader.begin_step();
  loader.load(features::kImage, 0, images.data());
  return images;
}

class ImportPixels : public testing::Test {
 protected:
  ImportPixels() {
    if (world().rank() == 0) write_photographs(source_);
    world().barrier();
  }

  std::vector<float> images_of_import(StorageKind storage, std::int64_t size, const AugmentationSpec& spec) const {
    ImportParams params;
    params.source = source_;
    params.output = fmt::format("{}/{}-{}-{}", directory_.path(), static_cast<int>(storage), size, orients_);
    params.storage = storage;
    params.size = storage == StorageKind::kRaw ? size : 0;
    params.orient = orients_;
    params.replace = true;
    import_samples(params, 1, world(), [](const ImportProgress&) {});
    world().barrier();
    const auto data = open(params.output, {.orients = orients_});
    EXPECT_EQ(data->info().oriented, orients_);
    return all_images(*data, spec);
  }

  std::vector<float> images_of_folder(const AugmentationSpec& spec) const {
    return all_images(*open(source_ + "/test", {.orients = orients_}), spec);
  }

  static std::unique_ptr<io::SampleStore> open(const std::string& path, const ImageFileOptions& options) {
    return open_samples({.path = path, .key = "predict.data", .files = options}, world()).store;
  }

  test::SharedDirectory directory_;
  std::string source_ = directory_.path() + "/photographs";
  bool orients_ = false;
};

TEST_F(ImportPixels, AreThoseOfTheFolderItselfToTheBit) {
  std::vector<float> as_stored;
  for (const bool orients : {false, true}) {
    orients_ = orients;
    const AugmentationSpec spec{.size = 64};
    const auto want = images_of_folder(spec);
    EXPECT_TRUE(images_of_import(StorageKind::kRaw, 64, spec) == want) << orients;
    EXPECT_TRUE(images_of_import(StorageKind::kEncoded, 64, spec) == want) << orients;
    EXPECT_NE(want, as_stored) << "none was turned";
    as_stored = want;
  }
  world().barrier();
}

// An import to the short side of an evaluation that then cuts its centre out.
TEST_F(ImportPixels, OfALargerImportHaveTheSameCentre) {
  const AugmentationSpec spec{.size = 56, .short_side = 64};
  const auto want = images_of_folder(spec);
  EXPECT_TRUE(images_of_import(StorageKind::kRaw, 64, spec) == want);
  EXPECT_TRUE(images_of_import(StorageKind::kEncoded, 64, spec) == want);
  world().barrier();
}

TEST_F(ImportPixels, AreRefusedWhereTheyShouldHaveBeenTurned) {
  const AugmentationSpec spec{.size = 32};
  images_of_import(StorageKind::kRaw, 32, spec);
  const std::string path = fmt::format("{}/0-32-false", directory_.path());
  EXPECT_CONTAINS(test::message_of<RequestError>([&] { open(path, {.needs_oriented = true}); }),
                  "imported with import.orient = false");
  world().barrier();
}

}  // namespace
}  // namespace convoy
