/// Chooses parts of pictures: the part that the network sees, the box that is pasted into another picture (CutMix), and
/// the box that is erased.
#pragma once

#include <cstdint>

#include "convoy/base/random.h"
#include "convoy/base/shape.h"

#include "data/images/resample.h"

namespace convoy {

/// Returns the part that the network sees in an evaluation and that an import stores: the picture is resized until its
/// short side has `short_side` pixels, and the size x size pixels in its centre are cut out: torchvision's
/// Resize(short_side), then CenterCrop(size). size <= short_side.
PixelGrid centre_crop(const ImageShape& picture, std::int64_t short_side, std::int64_t size);

/// Draws at random the part of an image (H,W), in whole pixels, that CropKind::kRandomResized shows. It makes up to ten
/// tries: the share of the area is uniform in [min_share, 1], the logarithm of width / height is uniform between those
/// of 3/4 and 4/3, and the position is uniform if the part fits. If none fits, it returns the part in the centre that
/// is as large as an aspect ratio in this range allows. Its distribution is that of torchvision's RandomResizedCrop.
Region random_resized_crop(const ImageShape& image, double min_share, const RandomKey& key);

/// A box of pixels: rows [top, bottom) and columns [left, right).
struct PixelBox {
  std::int32_t top = 0, bottom = 0, left = 0, right = 0;

  std::int64_t count() const { return std::int64_t{bottom - top} * (right - left); }
};

/// Draws at random the box of the other image that CutMix pastes (Yun et al. 2019), if that image should cover the
/// share `share`. Its sides are sqrt(share) times the image's, half a side rounded down, around a uniform centre. The
/// box is cut off at the image's edges, so that it may cover less. It is the box of torchvision's CutMix for the same
/// share and centre. Random numbers 0 and 1 of the key give the centre's column and row.
PixelBox cutmix_box(const ImageShape& image, double share, const RandomKey& key);

/// Draws at random the box that random erasing sets to 0 (Zhong et al. 2020). With the given probability it makes up to
/// ten tries: the share of the area is uniform in [0.02, 0.33], the logarithm of height / width is uniform between
/// those of 0.3 and 3.3, and the position is uniform if the box is smaller than the image in both directions. It
/// returns an empty box if no try fits, or if the image is not erased. The box is that of torchvision's RandomErasing
/// for the same random numbers: number 0 of the key decides whether to erase, numbers 4t + 1 ... 4t + 4 give area,
/// aspect ratio, row and column of try t.
PixelBox random_erasing(const ImageShape& image, double probability, const RandomKey& key);

}  // namespace convoy
