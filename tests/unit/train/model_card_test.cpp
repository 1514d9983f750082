/// Which images a network can be given, and how they are brought to its input.
#include "train/model_card.h"

#include <gtest/gtest.h>

#include "convoy/base/error.h"

#include "unit/messages.h"

namespace convoy {
namespace {

io::DatasetInfo pixels(const ImageShape& image) {
  return {.image = image, .class_names = {"a", "b"}};
}

io::DatasetInfo files(std::int64_t channels) {
  return {.image = {0, 0, channels}, .encoded = true, .class_names = {"a", "b"}};
}

std::string refusal(const io::ModelCard& card, const io::DatasetInfo& data) {
  return test::message_of<RequestError>([&] { check_images(card, data, "predict.data", "'best.h5'"); });
}

TEST(ModelCard, ImagesOfAnySizeAreResizedToASquareInput) {
  for (const bool resizes : {false, true}) {
    const io::ModelCard card{.image = {28, 28, 1}, .resizes = resizes, .short_side = resizes ? 32 : 0};
    for (const io::DatasetInfo& data : {pixels({36, 36, 1}), pixels({20, 30, 1}), files(1)}) {
      EXPECT_NO_THROW(check_images(card, data, "predict.data", "'best.h5'"));
      const AugmentationSpec spec = evaluation_augmentation(card, data);
      EXPECT_EQ(spec.size, 28);
      EXPECT_EQ(spec.short_side, card.short_side);
    }
    EXPECT_EQ(describe_resizing(card, pixels({36, 36, 1})), "images: 36x36x1, resized to 28x28x1\n");
    EXPECT_EQ(describe_resizing(card, pixels({28, 28, 1})) + describe_resizing(card, files(1)), "");
  }
}

TEST(ModelCard, ImagesLikeThoseThatWereTrainedOnAreLeftAlone) {
  EXPECT_EQ(evaluation_augmentation({.image = {28, 20, 1}}, pixels({28, 20, 1})).size, 0);
}

TEST(ModelCard, KnowsWhetherTheImagesWereTurnedWhenTheyWereImported) {
  for (const bool oriented : {false, true}) {
    io::DatasetInfo train = pixels({28, 28, 1});
    train.oriented = oriented;
    EXPECT_EQ(model_card({}, train).orients, oriented);
  }
}

TEST(ModelCard, WhatCannotBeUsedIsRefusedWithTheReason) {
  EXPECT_EQ(refusal({.image = {28, 20, 1}}, pixels({28, 28, 1})),
            "predict.data holds 28x28x1 images, 'best.h5' takes 28x20x1. Images are resized to squares only: import "
            "images that have this size, with import.size = 0.");
  EXPECT_CONTAINS(refusal({.image = {28, 20, 1}}, files(1)),
                  "predict.data holds files of images, 'best.h5' takes 28x20x1");
  EXPECT_EQ(refusal({.image = {28, 28, 1}}, pixels({28, 28, 3})),
            "predict.data holds images in colour (3 channels), 'best.h5' takes them grey (1). Import them with "
            "import.channels = 1.");
}

}  // namespace
}  // namespace convoy
