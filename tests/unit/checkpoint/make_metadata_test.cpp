/// Images that a network can be given, and how they are brought to its input.
#include "checkpoint/make_metadata.h"

#include <utility>

#include <gtest/gtest.h>

#include "convoy/base/error.h"
#include "convoy/params/parameters.h"

#include "data/images/augmenter.h"
#include "unit/messages.h"

namespace convoy {
namespace {

io::DatasetInfo pixels(const ImageShape& image) {
  return {.image = image, .class_names = {"a", "b"}};
}

io::DatasetInfo files(std::int64_t channels) {
  return {.image = {0, 0, channels}, .encoded = true, .class_names = {"a", "b"}};
}

io::ModelMetadata of_images(const io::ImageInput& input) {
  return {.input = input};
}

io::ModelMetadata of_texts(const std::string& words) {
  return {.input = io::TextInput{.length = 8, .tokenization = {.kind = "words", .model = words, .vocabulary = 7}}};
}

io::DatasetInfo texts(const std::string& words) {
  return {.kind = "text",
          .class_names = {"a", "b"},
          .text = {.tokenization = {.kind = "words", .model = words, .vocabulary = 7}, .num_tokens = 30}};
}

io::DatasetInfo arrays() {
  return {.kind = "arrays",
          .class_names = {"energy", "angle"},
          .arrays = {{.name = "image", .dims = {8, 8, 7}},
                     {.name = "values", .dims = {2}, .channel_names = {"age", "mass"}, .mean = {1, 2}}},
          .target = {.kind = TargetKind::kNumbers, .shape = Shape::vectors(1, 2), .mean = {0, 1}, .stddev = {1, 2}}};
}

io::ModelMetadata of_arrays(const io::DatasetInfo& data) {
  return {.input = io::ArraysInput{.inputs = data.arrays}, .class_names = data.class_names, .target = data.target};
}

std::string refusal(const io::ModelMetadata& metadata, const io::DatasetInfo& data) {
  return test::message_of<RequestError>([&] { check_samples(metadata, data, "predict.data", "'best.h5'"); });
}

TEST(ModelMetadata, ImagesOfAnySizeAreResizedToASquareInput) {
  for (const bool resizes : {false, true}) {
    const io::ImageInput input{.shape = {28, 28, 1}, .resizes = resizes, .short_side = resizes ? 32 : 0};
    const io::ModelMetadata metadata = of_images(input);
    for (const io::DatasetInfo& data : {pixels({36, 36, 1}), pixels({20, 30, 1}), files(1)}) {
      EXPECT_NO_THROW(check_samples(metadata, data, "predict.data", "'best.h5'"));
      const AugmentationSpec spec = evaluation_augmentation(input, data);
      EXPECT_EQ(spec.size, 28);
      EXPECT_EQ(spec.short_side, input.short_side);
    }
    EXPECT_EQ(describe_resizing(metadata, pixels({36, 36, 1})), "images: 36x36x1, resized to 28x28x1\n");
    EXPECT_EQ(describe_resizing(metadata, pixels({28, 28, 1})) + describe_resizing(metadata, files(1)), "");
  }
}

TEST(ModelMetadata, ImagesLikeThoseThatWereTrainedOnAreLeftAlone) {
  EXPECT_EQ(evaluation_augmentation({.shape = {28, 20, 1}}, pixels({28, 20, 1})).size, 0);
}

TEST(ModelMetadata, KnowsWhetherTheImagesWereTurnedWhenTheyWereImported) {
  for (const bool oriented : {false, true}) {
    io::DatasetInfo train = pixels({28, 28, 1});
    train.oriented = oriented;
    EXPECT_EQ(model_metadata({}, train).image().orients, oriented);
  }
}

TEST(ModelMetadata, SamplesOfAnotherKindOfInputAreRefused) {
  EXPECT_EQ(refusal(of_texts("a\nb\n"), pixels({28, 28, 1})),
            "predict.data holds images, but the network of 'best.h5' reads text. Give a data set of text.");
  EXPECT_EQ(refusal(of_images({.shape = {28, 28, 1}}), texts("a\nb\n")),
            "predict.data holds text, but the network of 'best.h5' reads images. Give a data set of images.");
}

TEST(ModelMetadata, OfTextsHasTheVocabularyOfTheTrainingSetAndNoOther) {
  Parameters params;
  params.model.name = "transformer";
  params.model.length = 100;
  const io::ModelMetadata metadata = model_metadata(params, texts("a\nb\n"));
  EXPECT_STREQ(metadata.kind(), "text");
  EXPECT_EQ(metadata.shape(), InputShape(TextShape{.length = 100, .vocabulary = 7}));
  EXPECT_NO_THROW(check_samples(metadata, texts("a\nb\n"), "data.test", "data.train"));
  EXPECT_EQ(describe_resizing(metadata, texts("a\nb\n")), "");
  EXPECT_EQ(refusal(metadata, texts("b\na\n")),
            "predict.data was imported with another vocabulary than 'best.h5'. Import both with one command.");
}

TEST(ModelMetadata, WhatCannotBeUsedIsRefusedWithTheReason) {
  EXPECT_EQ(refusal(of_images({.shape = {28, 20, 1}}), pixels({28, 28, 1})),
            "predict.data holds 28x28x1 images, but the network of 'best.h5' reads 28x20x1 images. Convoy resizes "
            "images only to squares: import images that already have this size, with import.size = 0.");
  EXPECT_CONTAINS(refusal(of_images({.shape = {28, 20, 1}}), files(1)),
                  "predict.data holds files of images, but the network of 'best.h5' reads 28x20x1");
  EXPECT_EQ(refusal(of_images({.shape = {28, 28, 1}}), pixels({28, 28, 3})),
            "predict.data holds colour images (3 channels), but the network of 'best.h5' reads grey images (1 "
            "channel). Import them with import.channels = 1.");
}

TEST(ModelMetadata, ArraysMustHaveTheExtentsAndColumnsThatTheNetworkReads) {
  const io::ModelMetadata metadata = of_arrays(arrays());
  EXPECT_EQ(refusal(metadata, arrays()), test::kNothingThrown);
  const auto refusal_of = [&](const auto& change) {
    io::DatasetInfo data = arrays();
    change(data);
    return refusal(metadata, data);
  };
  EXPECT_EQ(
      refusal_of([](auto& d) { d.arrays[1].name = "table"; }),
      "predict.data has no array 'values', which the network of 'best.h5' reads. It has: image float32 (8, 8, 7), "
      "table float32 (2). An import calls it so with import.inputs = \"values: WHERE\".");
  EXPECT_EQ(refusal_of([](auto& d) {
              d.arrays[0].dims = {8, 8, 3};
            }),
            "predict.data: the array 'image' of a sample is float32 (8, 8, 3), but the network of 'best.h5' reads "
            "float32 (8, "
            "8, 7) as its input 'image'. Give samples of this shape, or train a network on these.");
  EXPECT_EQ(
      refusal_of([](auto& d) { d.arrays[1].channel_names[1] = "height"; }),
      "predict.data: column 1 of 'values' (counted from 0) is 'height', but the network of 'best.h5' reads 'mass' "
      "there.");
  for (const auto& allowed : {+[](io::DatasetInfo& d) { d.arrays[1].channel_names.clear(); },
                              +[](io::DatasetInfo& d) { d.arrays[0].type = ElementType::kUint16; },
                              +[](io::DatasetInfo& d) { d.arrays.push_back({.name = "more", .dims = {3}}); },
                              +[](io::DatasetInfo& d) { std::swap(d.arrays[0], d.arrays[1]); }})
    EXPECT_EQ(refusal_of(allowed), test::kNothingThrown);
  EXPECT_CONTAINS(refusal(metadata, pixels({8, 8, 7})), "holds images, but the network of 'best.h5' reads arrays");
  EXPECT_CONTAINS(refusal(of_images({.shape = {8, 8, 7}}), arrays()),
                  "holds arrays, but the network of 'best.h5' reads");
}

TEST(ModelMetadata, TargetsMustBeOfTheNetworksKindAndNames) {
  const auto refusal_of = [](const auto& change) {
    io::DatasetInfo data = arrays();
    change(data);
    return test::message_of<RequestError>([&] { check_classes(of_arrays(arrays()), data, "data.val", "data.train"); });
  };
  EXPECT_EQ(refusal_of([](auto&) {}), test::kNothingThrown);
  EXPECT_CONTAINS(refusal_of([](auto& d) { d.target.kind = TargetKind::kLabels; }),
                  "data.val has labels as targets, but data.train has numbers.");
  EXPECT_CONTAINS(refusal_of([](auto& d) {
                    d.target.dims = {8, 8, 2};
                  }),
                  "data.val: the target of a sample is (8, 8, 2), with channels last, but that of data.train is (2).");
  EXPECT_CONTAINS(refusal_of([](auto& d) { d.class_names.pop_back(); }),
                  "data.val has 1 numbers, but data.train has 2.");
  EXPECT_CONTAINS(refusal_of([](auto& d) { d.class_names[1] = "mass"; }),
                  "data.val has other numbers than data.train: name 1 (counted from 0) is 'mass', not 'angle'.");
}

TEST(ModelMetadata, OfArraysNeedsANetworkThatReadsThem) {
  Parameters params;
  EXPECT_CONTAINS(test::message_of<RequestError>([&] { model_metadata(params, arrays()); }),
                  "the network reads images, and the data holds arrays: image (8, 8, 7), values (2)");
  params.model.name = "mlp";
  const io::ModelMetadata metadata = model_metadata(params, arrays());
  ASSERT_NE(metadata.arrays(), nullptr);
  EXPECT_EQ(metadata.arrays()->inputs, arrays().arrays);
  EXPECT_EQ(metadata.target, arrays().target);
  params.augment.mean.values = {0.5};
  EXPECT_CONTAINS(test::message_of<RequestError>([&] { model_metadata(params, arrays()); }),
                  "augment.mean and augment.stddev are those of images, but data.train holds arrays.");
}

}  // namespace
}  // namespace convoy
