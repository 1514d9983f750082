/// ImageBatchOp against plain loops.
#include "convoy/ops/image_batch.h"

#include <cstring>

#include "unit/ops/op_test.h"

namespace convoy {
namespace {

using ops::ImageBatchSpec;
using ops::ImageCut;

/// Reproducible bytes, all 256 of them where there are enough.
std::vector<std::uint8_t> some_bytes(std::int64_t count) {
  std::vector<std::uint8_t> bytes(index(count));
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>((i * 167 + i / 256) % 256);
  return bytes;
}

/// A number of its own for every channel and byte.
std::vector<float> some_table(std::int64_t channels) {
  const Array values = random_array(channels * 256, 1, 0, 3);
  return {values.begin(), values.end()};
}

Array plain_loops(const ImageBatchSpec& spec, const std::vector<std::uint8_t>& images,
                  const std::vector<ImageCut>& cuts) {
  const Shape s = spec.x;
  Array x;
  for (std::int64_t n = 0; n < s.n; ++n) {
    const ImageCut& cut = cuts[index(n)];
    for (std::int64_t h = 0; h < s.h; ++h) {
      for (std::int64_t w = 0; w < s.w; ++w) {
        const std::int64_t row = h + cut.dy, column = (cut.flip != 0 ? s.w - 1 - w : w) + cut.dx;
        const bool inside = row >= 0 && row < s.h && column >= 0 && column < s.w;
        for (std::int64_t c = 0; c < s.c; ++c) {
          const std::uint8_t byte =
              inside && cut.black == 0 ? images[index(((n * s.h + row) * s.w + column) * s.c + c)] : 0;
          const bool hole = h >= cut.hole_top && h < cut.hole_bottom && w >= cut.hole_left && w < cut.hole_right;
          x.push_back(hole ? 0.0 : static_cast<double>(spec.value_of[index(c * 256 + byte)]));
        }
      }
    }
  }
  return rounded(spec.type, x);
}

/// What the operation makes of the same, on the device.
Array run(ops::Library& library, ops::ImageBatchOp& op, const ImageBatchSpec& spec,
          const std::vector<std::uint8_t>& images, const std::vector<ImageCut>& cuts) {
  const auto images_bytes = std::ssize(images), cuts_bytes = std::ssize(cuts) * std::int64_t{sizeof(ImageCut)};
  const Buffer device_images(library.device(), images_bytes), device_cuts(library.device(), cuts_bytes);
  library.device().copy_to_device(device_images.data(), images.data(), images_bytes);
  library.device().copy_to_device(device_cuts.data(), cuts.data(), cuts_bytes);
  const DeviceArray x(library, spec.x.count(), spec.type);
  op.run(reinterpret_cast<const std::uint8_t*>(device_images.data()),
         reinterpret_cast<const ImageCut*>(device_cuts.data()), x);
  return x.doubles();
}

class ImageBatchTest : public OpTest {};

TEST_P(ImageBatchTest, EqualsPlainLoopsForEveryCut) {
  // Places outside the image on every side, by more than the image, and none.
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
  for (const Shape& shape : {Shape{n, 32, 32, 3}, Shape{n, 28, 28, 1}, Shape{n, 6, 10, 1}, Shape{n, 5, 7, 3},
                             Shape{n, 1, 1, 1}, Shape{n, 65, 63, 3}, Shape{n, 9, 8, 7}, Shape{n, 3, 3, 4}}) {
    for (const DataType type : types()) {
      SCOPED_TRACE(fmt::format("{}, {}", to_string(shape), to_string(type)));
      const ImageBatchSpec spec{shape, some_table(shape.c), type};
      const std::vector<std::uint8_t> images = some_bytes(shape.count());
      const auto op = library_->image_batch(spec);
      if (op == nullptr) {  // the loader's threads prepare the images, which they do in float32 alone
        EXPECT_EQ(type, DataType::kFloat32);
        continue;
      }
      EXPECT_EQ(run(*library_, *op, spec, images, cuts), plain_loops(spec, images, cuts));
    }
  }
}

CONVOY_RUN_ON_ALL_LIBRARIES(ImageBatchTest);

}  // namespace
}  // namespace convoy
