/// Where torchvision's Resize and CenterCrop put the pixels that they cut out.
#include "data/centre_crop.h"

#include <gtest/gtest.h>

namespace convoy {
namespace {

struct Case {
  ImageShape picture;
  std::int64_t short_side = 0, size = 0;
  std::int64_t resized_h = 0, resized_w = 0, top = 0, left = 0;  ///< Python: int(s * long / short), int(round(d / 2.0))
};

TEST(CentreCrop, RoundsAsTorchvisionDoes) {
  for (const Case& c : {
           Case{{480, 640, 3}, 256, 224, 256, 341, 16, 58},  // 58.5 to the even 58
           Case{{640, 480, 3}, 256, 224, 341, 256, 58, 16},
           Case{{375, 500, 3}, 256, 224, 256, 341, 16, 58},
           Case{{500, 333, 3}, 256, 224, 384, 256, 80, 16},
           Case{{100, 103, 3}, 100, 100, 100, 103, 0, 2},  // 1.5 to 2
           Case{{100, 101, 3}, 100, 100, 100, 101, 0, 0},  // 0.5 to 0
           Case{{100, 105, 3}, 100, 100, 100, 105, 0, 2},  // 2.5 to 2
           Case{{20, 30, 3}, 48, 41, 48, 72, 4, 16},       // 3.5 to 4, 15.5 to 16
           Case{{7, 1000, 3}, 224, 224, 224, 32000, 0, 15888},
           Case{{64, 64, 3}, 64, 64, 64, 64, 0, 0},
       }) {
    const PixelGrid want{
        .rows = {.step = static_cast<double>(c.picture.h) / static_cast<double>(c.resized_h), .first = c.top},
        .columns = {.step = static_cast<double>(c.picture.w) / static_cast<double>(c.resized_w), .first = c.left}};
    EXPECT_EQ(centre_crop(c.picture, c.short_side, c.size), want)
        << to_string(c.picture) << ", " << c.short_side << ", " << c.size;
  }
}

TEST(CentreCrop, OfASquareOfTheRightSizeIsWhatItIs) {
  EXPECT_EQ(centre_crop({32, 32, 3}, 32, 32), PixelGrid{});
}

// An import to the short side and then the centre of that: the pixels lie where they would in the picture itself.
TEST(CentreCrop, OfACentreCropIsTheCentreOfThePicture) {
  for (std::int64_t w = 300; w < 340; ++w) {
    const PixelGrid whole = centre_crop({300, w, 3}, 256, 224), import = centre_crop({300, w, 3}, 256, 256),
                    of_import = centre_crop({256, 256, 3}, 256, 224);
    EXPECT_EQ(whole.columns.first, import.columns.first + of_import.columns.first) << w;
    EXPECT_EQ(whole.rows.first, import.rows.first + of_import.rows.first) << w;
    EXPECT_EQ(of_import.columns.step, 1);
  }
}

}  // namespace
}  // namespace convoy
