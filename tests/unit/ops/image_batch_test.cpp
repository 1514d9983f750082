/// ImageBatchOp against plain loops.
#include "convoy/ops/image_batch.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "reference/image_batch.h"
#include "unit/ops/op_test.h"

namespace convoy {
namespace {

using ops::ImageBatchSpec;
using ops::ImageCut;

/// Reproducible bytes, with all 256 values if there are enough bytes.
std::vector<std::uint8_t> some_bytes(std::int64_t count) {
  std::vector<std::uint8_t> bytes(index(count));
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>((i * 167 + i / 256) % 256);
  return bytes;
}

/// A table with a different number for every channel and byte.
std::vector<float> some_table(std::int64_t channels) {
  const Array values = random_array(channels * 256, 1, 0, 3);
  return {values.begin(), values.end()};
}

/// Runs the operation on the device and returns its result.
Array run(ops::Backend& backend, ops::ImageBatchOp& op, const ImageBatchSpec& spec,
          const std::vector<std::uint8_t>& images, const std::vector<ImageCut>& cuts) {
  const auto images_bytes = std::ssize(images), cuts_bytes = std::ssize(cuts) * std::int64_t{sizeof(ImageCut)};
  const Buffer device_images(backend.device(), images_bytes), device_cuts(backend.device(), cuts_bytes);
  backend.device().copy_to_device(device_images.data(), images.data(), images_bytes);
  backend.device().copy_to_device(device_cuts.data(), cuts.data(), cuts_bytes);
  const DeviceArray x(backend, spec.x.count(), spec.type);
  op.run(reinterpret_cast<const std::uint8_t*>(device_images.data()),
         reinterpret_cast<const ImageCut*>(device_cuts.data()), x);
  return x.doubles();
}

void expect_rounded(const ImageBatchSpec& spec, const Array& got, const Array& want) {
  EXPECT_EQ(got, rounded(spec.type, want));
}

class ImageBatchTest : public OpTest {
 protected:
  /// Calls check(spec, got, want) for every type. want is not yet rounded.
  template <typename Check>
  void for_each_type(const Shape& shape, const std::vector<ImageCut>& cuts, const Check& check,
                     BorderKind border = BorderKind::kBlack) {
    for (const DataType type : types()) {
      SCOPED_TRACE(fmt::format("{}, {}", to_string(shape), to_string(type)));
      const ImageBatchSpec spec{shape, some_table(shape.c), type, border};
      const std::vector<std::uint8_t> images = some_bytes(shape.count());
      const auto op = backend_->create<ops::ImageBatchOp>(spec);
      check(spec, run(*backend_, *op, spec, images, cuts), reference::image_batch(spec, images, cuts));
    }
  }
};

TEST_P(ImageBatchTest, EqualsPlainLoopsForEveryCut) {
  // Cuts that reach outside the image on every side, cuts outside of it, and cuts inside.
  const std::vector<ImageCut> cuts = {{0, 0, 0, 0},
                                      {0, 0, 1, 0},
                                      {2, -3, 0, 0},
                                      {-4, 1, 1, 0},
                                      {3, 3, 1, 0},
                                      {-2, -2, 0, 0},
                                      {0, 0, 0, 1},
                                      {1, 2, 1, 1},
                                      {40, 0, 0, 0},
                                      {0, -40, 1, 0},
                                      {-40, 40, 0, 0},
                                      {1, -2, 1, 0, 1, 4, 2, 5},
                                      {0, 0, 0, 0, 0, 99, 0, 1}};
  const auto n = std::ssize(cuts);
  // Images of a multiple of 8 values, of 4 and of neither; more than one block; more channels than shared memory takes.
  for (const Shape& shape :
       {Shape::images(n, 32, 32, 3), Shape::images(n, 28, 28, 1), Shape::images(n, 6, 10, 1), Shape::images(n, 5, 7, 3),
        Shape::images(n, 1, 1, 1), Shape::images(n, 65, 63, 3), Shape::images(n, 9, 8, 7), Shape::images(n, 3, 3, 4)}) {
    for_each_type(shape, cuts, expect_rounded);
  }
}

TEST_P(ImageBatchTest, ReflectsTheImageAsFarAsItGoes) {
  for (const Shape& shape : {Shape::images(8, 32, 32, 3), Shape::images(8, 28, 28, 1), Shape::images(8, 5, 7, 3),
                             Shape::images(8, 9, 8, 7), Shape::images(8, 1, 1, 3), Shape::images(8, 2, 1, 4)}) {
    const auto h = static_cast<std::int32_t>(shape.h - 1), w = static_cast<std::int32_t>(shape.w - 1);
    std::vector<ImageCut> cuts = {{0, 0, 0, 0},
                                  {h, w, 0, 0},
                                  {-h, -w, 1, 0},
                                  {h / 2, -w / 2, 1, 0},
                                  {0, w, 1, 0},
                                  {-h, 0, 0, 0},
                                  {h, -w, 0, 0, 0, 1, 0, 1},
                                  {-h, w, 1, 1}};
    for_each_type(shape, cuts, expect_rounded, BorderKind::kReflect);
    cuts[1].mix = {.partner = 2, .share = 1};  // exactly the partner's
    for_each_type(shape, cuts, expect_rounded, BorderKind::kReflect);
  }
}

TEST_P(ImageBatchTest, MixesImagesAsTheyAreCut) {
  std::vector<ImageCut> cuts = {{0, 0, 0, 0}, {2, -3, 1, 0}, {0, 0, 1, 0, 1, 4, 2, 5}, {-1, 1, 0, 0}, {1, 0, 0, 0}};
  cuts[0].mix = {2, 0.25f};  // a partner with a hole
  cuts[1].mix = {0, 0.5f};   // a partner that is mixed itself: its unmixed values are taken
  cuts[2].mix = {1, 0.9f};
  cuts[3].mix = {4, 1};
  cuts[4].mix = {3, 0};  // nothing
  for (const Shape& shape : {Shape::images(5, 32, 32, 3), Shape::images(5, 5, 7, 3), Shape::images(5, 9, 8, 7)}) {
    for_each_type(shape, cuts, [](const ImageBatchSpec& spec, const Array& got, const Array& want) {
      const auto largest = *std::max_element(spec.value_of.begin(), spec.value_of.end(),
                                             [](float a, float b) { return std::abs(a) < std::abs(b); });
      // Four float32 operations, then a rounding to the type.
      const double unit = reference::rounding_error(spec.type, 1);
      const double tolerance = (4 * 0x1p-24 + unit) * std::abs(double{largest});
      ASSERT_EQ(got.size(), want.size());
      for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], want[i], tolerance) << i;
    });
  }
}

// Boxes over an edge, of one pixel, of no pixel, and of the whole image: the bits are the partner's or the own ones.
TEST_P(ImageBatchTest, PastesABoxOfThePartnerAsItIsCut) {
  std::vector<ImageCut> cuts = {{0, 0, 0, 0},  {2, -3, 1, 0}, {0, 0, 1, 0, 1, 4, 2, 5},
                                {-1, 1, 0, 0}, {1, 0, 0, 0},  {0, 1, 1, 0}};
  cuts[0].mix = {.partner = 2, .share = 1, .top = 0, .bottom = 4, .left = 1, .right = 6};  // a partner with a hole
  cuts[1].mix = {.partner = 0, .share = 1, .top = 2, .bottom = 3, .left = 4, .right = 5};
  cuts[2].mix = {.partner = 1, .share = 1, .top = 3, .bottom = 3, .left = 0, .right = 7};
  cuts[3].mix = {.partner = 4, .share = 1, .top = 1, .bottom = ops::kToTheEnd, .left = 3, .right = ops::kToTheEnd};
  cuts[4].mix = {.partner = 3, .share = 1, .top = 0, .bottom = 5, .left = 0, .right = 7};
  cuts[5].mix = {.partner = 0, .share = 1, .top = 0, .bottom = 5, .left = 2, .right = 2};
  for (const Shape& shape :
       {Shape::images(6, 32, 32, 3), Shape::images(6, 5, 7, 3), Shape::images(6, 9, 8, 7), Shape::images(6, 6, 10, 1)})
    for_each_type(shape, cuts, expect_rounded);
}

CONVOY_RUN_ON_ALL_BACKENDS(ImageBatchTest);

}  // namespace
}  // namespace convoy
