/// Mixes the samples of a micro-batch in pairs: mixup and CutMix.
#pragma once

#include <cstdint>

#include "convoy/base/shape.h"
#include "convoy/data/sample_path.h"
#include "convoy/ops/image_batch.h"
#include "convoy/params/data_parameters.h"

namespace convoy {

/// How a sample is mixed with its partner.
struct SampleMix {
  ops::ImageMix image;
  float label_share = 0;  ///< share of the partner's label in the mixed label; for CutMix that of the box's area
};

/// Draws at random with which other sample of its micro-batch (its partner) sample i is mixed, and how: Zhang, Cisse,
/// Dauphin & Lopez-Paz 2018, "mixup: beyond empirical risk minimization"; Yun et al. 2019, "CutMix". If both are on,
/// each micro-batch uses one of them, each with probability 1/2. `image` is the shape of the result, which mixup does
/// not read. If neither is on, the micro-batch has one sample, or one of the two samples is past the end of the data
/// (kNoSample), the sample is its own partner with a share of 0.
///
/// The partner is in the same micro-batch. A rank with this micro-batch has both images and both labels, so the first
/// stage and the last draw the same pairs without a message, on any grid, and no image is decoded twice. In a
/// micro-batch each sample is a partner once: index + shift, modulo N, with one shift of 1 .. N-1. Samples come in a
/// random order, so a shift pairs them as well as another permutation would. The share is drawn from Beta(alpha,
/// alpha), which is symmetric in the two images. CutMix draws share and box for each sample (cutmix_box of crops.h).
SampleMix draw_mix(const AugmentParams& params, std::uint64_t seed, const ImageShape& image, const BatchSamples& batch,
                   std::int64_t i);

}  // namespace convoy
