/// Which part of an image random_resized shows.
#pragma once

#include "convoy/base/random.h"
#include "convoy/base/shape.h"

#include "data/resample.h"

namespace convoy {

/// Whole pixels of an image (H,W). Ten tries: area share uniform in [least_share, 1], logarithm of width / height
/// uniform between those of 3/4 and 4/3, place uniform where it fits; failing that the centre, as large as an aspect in
/// that range allows. What torchvision's RandomResizedCrop draws.
Region random_resized_crop(const ImageShape& image, double least_share, const RandomKey& key);

}  // namespace convoy
