/// Which part of a picture is seen.
#pragma once

#include <cstdint>

#include "convoy/base/random.h"
#include "convoy/base/shape.h"

#include "data/images/resample.h"

namespace convoy {

/// What an evaluation sees, and what an import keeps: the picture is resized until its short side has `short_side`
/// pixels, and the size x size pixels in its centre are cut out: torchvision's Resize(short_side), then
/// CenterCrop(size). size <= short_side.
PixelGrid centre_crop(const ImageShape& picture, std::int64_t short_side, std::int64_t size);

/// What random_resized shows: whole pixels of an image (H,W). Ten tries: area share uniform in [min_share, 1],
/// logarithm of width / height uniform between those of 3/4 and 4/3, position uniform where it fits; failing that the
/// centre, as large as an aspect in that range allows. What torchvision's RandomResizedCrop draws.
Region random_resized_crop(const ImageShape& image, double min_share, const RandomKey& key);

}  // namespace convoy
