/// Stored images become bytes of the network's size: the part that is to be seen, and no other change.
#include "data/images/prepare_image.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include <gtest/gtest.h>

#include "convoy/base/error.h"

#include "data/images/auto_augment.h"
#include "data/images/crops.h"
#include "reference/image_batch.h"
#include "unit/data/image_files.h"

namespace convoy {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes some_pixels(const ImageShape& shape) {
  Bytes pixels;
  for (std::int64_t y = 0; y < shape.h; ++y)
    for (std::int64_t x = 0; x < shape.w; ++x)
      for (std::int64_t c = 0; c < shape.c; ++c)
        pixels.push_back(static_cast<std::uint8_t>((y * 53 + x * 31 + c * 97) % 256));
  return pixels;
}

Augmenter augmenter_of(const ImageShape& stored, const AugmentationSpec& spec) {
  const auto channels = static_cast<std::size_t>(stored.c);
  return {stored, spec, std::vector<double>(channels, 0.5), std::vector<double>(channels, 0.25)};
}

Bytes copy_of(const PreparedImage& image, const Augmenter& augmenter) {
  return {image.pixels, image.pixels + augmenter.image().count()};
}

Bytes resampled(const Bytes& pixels, const ImageShape& shape, const Region& region, std::int64_t size) {
  Bytes out(static_cast<std::size_t>(size * size * shape.c));
  Resampler resampler;
  resampler.plan(shape, grid_over(region, size, size), size, size);
  resampler.resample({shape, pixels.data()}, out.data());
  return out;
}

TEST(PrepareImage, PassesOnWhatHasTheRightSize) {
  const ImageShape shape{8, 8, 3};
  const Bytes pixels = some_pixels(shape);
  for (const AugmentationSpec& spec : {AugmentationSpec{.params = {.crop_padding = 2, .flip = true}, .seed = 1},
                                       AugmentationSpec{.seed = 1, .size = 8}}) {
    const Augmenter augmenter = augmenter_of(shape, spec);
    ImagePreparer preparer(augmenter);
    for (std::int64_t sample = 0; sample < 20; ++sample) {
      const PreparedImage image = preparer.prepare({.image = pixels.data(), .epoch = 2, .sample = sample});
      EXPECT_EQ(image.pixels, pixels.data());
      const ops::ImageCut cut = augmenter.cut(2, sample);
      EXPECT_EQ(image.cut.dx, cut.dx);
      EXPECT_EQ(image.cut.dy, cut.dy);
      EXPECT_EQ(image.cut.flip, cut.flip);
    }
  }
}

TEST(PrepareImage, EvaluationSeesTheCentreOfTheResizedImage) {
  const ImageShape shape{20, 40, 3};
  const Bytes pixels = some_pixels(shape);
  const Augmenter augmenter = augmenter_of(shape, {.size = 8, .short_side = 10});
  ImagePreparer preparer(augmenter);
  // Short side 10 is half of 20: 8 of these are 16 of the image's, in the middle.
  EXPECT_EQ(copy_of(preparer.prepare({.image = pixels.data()}), augmenter),
            resampled(pixels, shape, {2, 12, 16, 16}, 8));
}

TEST(PrepareImage, TrainingSeesTheDrawnPartAtTheRightSize) {
  const ImageShape shape{20, 40, 3};
  const Bytes pixels = some_pixels(shape);
  const Augmenter augmenter = augmenter_of(shape, {.params = {.crop = CropKind::kRandomResized}, .seed = 4, .size = 8});
  ImagePreparer preparer(augmenter);
  for (std::int64_t sample = 0; sample < 20; ++sample) {
    const Region region = random_resized_crop(shape, 0.08, augmenter.key(Purpose::kResizedCrop, 3, sample));
    EXPECT_EQ(copy_of(preparer.prepare({.image = pixels.data(), .epoch = 3, .sample = sample}), augmenter),
              resampled(pixels, shape, region, 8));
  }
}

TEST(PrepareImage, ColoursAreThoseOfTheCroppedImage) {
  const ImageShape shape{8, 8, 3};
  const Bytes pixels = some_pixels(shape);
  std::vector<float> identity(3 * 256);
  for (std::size_t i = 0; i < identity.size(); ++i) identity[i] = static_cast<float>(i % 256);
  for (const BorderKind border : {BorderKind::kBlack, BorderKind::kReflect}) {
    const Augmenter augmenter = augmenter_of(
        shape,
        {.params = {.crop_padding = 3, .border = border, .flip = true, .brightness = 0.2, .contrast = 0.5, .cutout = 4},
         .seed = 1});
    ImagePreparer preparer(augmenter);
    for (std::int64_t sample = 0; sample < 20; ++sample) {
      ops::ImageCut cut = augmenter.cut(0, sample);
      const std::int32_t hole_bottom = std::exchange(cut.hole_bottom, 0);
      const auto cropped =
          reference::image_batch({.x = shape.batch(1), .value_of = identity, .border = border}, pixels, {cut});
      Bytes want(cropped.begin(), cropped.end());
      draw_jitter(augmenter.spec().params, augmenter.key(Purpose::kColour, 0, sample)).apply(want.data(), shape);
      const PreparedImage image = preparer.prepare({.image = pixels.data(), .sample = sample});
      EXPECT_EQ(copy_of(image, augmenter), want);
      EXPECT_TRUE(image.cut.dx == 0 && image.cut.dy == 0 && image.cut.flip == 0) << "would be done twice";
      EXPECT_EQ(image.cut.hole_bottom, hole_bottom);
    }
  }
}

TEST(PrepareImage, FilesGiveWhatTheirPixelsGive) {
  ImageDecoder decoder;
  for (const auto& file : {test::make_png({.h = 24, .w = 30}), test::make_jpeg({.h = 24, .w = 30})}) {
    const ImageView view = decoder.decode(file, {.channels = 3});
    const Augmenter of_files =
        augmenter_of({0, 0, 3}, {.params = {.crop = CropKind::kRandomResized}, .seed = 9, .size = 16});
    const Augmenter of_pixels = augmenter_of(view.shape, of_files.spec());
    ImagePreparer a(of_files), b(of_pixels);
    for (std::int64_t sample = 0; sample < 20; ++sample)
      EXPECT_EQ(copy_of(a.prepare({.file = file, .sample = sample}), of_files),
                copy_of(b.prepare({.image = view.pixels, .sample = sample}), of_pixels));
  }
}

TEST(PrepareImage, WhatACropDoesNotSeeOfAFileIsNotDecoded) {
  const ImageShape shape{160, 160, 3};
  auto file = test::make_jpeg({.h = 160, .w = 160, .across = 2, .down = 2, .quality = 90}, some_pixels(shape));
  const Augmenter augmenter =
      augmenter_of({0, 0, 3}, {.params = {.crop = CropKind::kRandomResized}, .seed = 9, .size = 64});
  ImagePreparer preparer(augmenter);
  std::vector<Bytes> whole;
  for (std::int64_t sample = 0; sample < 40; ++sample)
    whole.push_back(copy_of(preparer.prepare({.file = file, .sample = sample}), augmenter));

  file.resize(file.size() * 3 / 4);
  int num_seen = 0, num_refused = 0;
  for (std::int64_t sample = 0; sample < 40; ++sample) {
    try {
      EXPECT_EQ(copy_of(preparer.prepare({.file = file, .sample = sample}), augmenter),
                whole[static_cast<std::size_t>(sample)]);
      ++num_seen;
    } catch (const Error&) {
      ++num_refused;
    }
  }
  EXPECT_GT(num_seen, 2);
  EXPECT_GT(num_refused, 10);
}

/// Pixels that get half a level brighter per row, and a quarter per column.
Bytes slope(const ImageShape& shape) {
  Bytes pixels;
  for (std::int64_t y = 0; y < shape.h; ++y)
    for (std::int64_t x = 0; x < shape.w; ++x)
      for (std::int64_t c = 0; c < shape.c; ++c)
        pixels.push_back(static_cast<std::uint8_t>(20 + y / 2 + x / 4 + 10 * c));
  return pixels;
}

/// A picture that a decoder could give at an eighth of its size, as a file and as pixels.
struct FileAndPixels {
  std::vector<std::byte> file = test::make_jpeg({.h = 241, .w = 322, .across = 2, .down = 2}, slope({241, 322, 3}));
  ImageDecoder decoder;
  ImageView view = decoder.decode(file, {.channels = 3});
};

TEST(PrepareImage, TheCentreOfALargeFileIsThatOfItsPixelsToTheBit) {
  const FileAndPixels large;
  for (const AugmentationSpec& spec : {AugmentationSpec{.size = 16, .short_side = 18}, AugmentationSpec{.size = 31}}) {
    const Augmenter of_files = augmenter_of({0, 0, 3}, spec), of_pixels = augmenter_of(large.view.shape, spec);
    ImagePreparer a(of_files), b(of_pixels);
    EXPECT_EQ(copy_of(a.prepare({.file = large.file}), of_files),
              copy_of(b.prepare({.image = large.view.pixels}), of_pixels));
  }
}

TEST(PrepareImage, RandomPartsOfLargeFilesAreScaledWhileTheyAreDecodedAndLookTheSame) {
  const FileAndPixels large;
  const Augmenter of_files =
      augmenter_of({0, 0, 3}, {.params = {.crop = CropKind::kRandomResized}, .seed = 2, .size = 16});
  const Augmenter of_pixels = augmenter_of(large.view.shape, of_files.spec());
  ImagePreparer a(of_files), b(of_pixels);
  int num_scaled = 0;
  for (std::int64_t sample = 0; sample < 10; ++sample) {
    const Bytes scaled = copy_of(a.prepare({.file = large.file, .sample = sample}), of_files);
    const Bytes full = copy_of(b.prepare({.image = large.view.pixels, .sample = sample}), of_pixels);
    // The last blocks of 8 lie partly outside of the picture, by 7 rows and 6 columns, of which the resampler does not
    // know: 7 / 2 + 6 / 4 levels; the rest is rounding.
    for (std::size_t i = 0; i < full.size(); ++i) ASSERT_NEAR(scaled[i], full[i], 7) << sample << ", " << i;
    if (scaled != full) ++num_scaled;
  }
  EXPECT_GT(num_scaled, 5) << "decoded at its full size";
}

TEST(PrepareImage, ABadFileIsAnErrorAndTheNextOneIsFine) {
  auto bad = test::make_jpeg();
  bad.resize(bad.size() / 2);
  const Augmenter augmenter = augmenter_of({0, 0, 3}, {.size = 16});
  ImagePreparer preparer(augmenter);
  EXPECT_THROW(preparer.prepare({.file = bad}), Error);
  EXPECT_THROW(preparer.prepare({}), Error);
  EXPECT_NO_THROW(preparer.prepare({.file = test::make_jpeg()}));
}

TEST(PrepareImage, FilesWithoutASizeAreRefused) {
  EXPECT_THROW(augmenter_of({0, 0, 3}, {}), Error);
}

}  // namespace
}  // namespace convoy
