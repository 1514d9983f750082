/// What an evaluation sees of a picture, and what an import keeps of it: its centre.
#pragma once

#include <cstdint>

#include "convoy/base/shape.h"

#include "data/resample.h"

namespace convoy {

/// The picture is resized until its short side has `short_side` pixels, and the size x size pixels in its centre are
/// cut out: torchvision's Resize(short_side), then CenterCrop(size). size <= short_side.
PixelGrid centre_crop(const ImageShape& picture, std::int64_t short_side, std::int64_t size);

}  // namespace convoy
