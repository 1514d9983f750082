/// Which samples of a micro-batch are mixed, and by how much.
/// Zhang, Cisse, Dauphin & Lopez-Paz 2018, "mixup: beyond empirical risk minimization".
#pragma once

#include <cstdint>

#include "convoy/data/loader.h"
#include "convoy/ops/image_batch.h"

namespace convoy {

struct MixPlace {
  std::int64_t epoch = 0;
  std::int64_t micro_batch = 0;  ///< of the epoch
  std::int64_t num_places = 0;   ///< in it
  std::int64_t place = 0;        ///< in it
  std::int64_t sample = 0;       ///< that stands there
};

/// The partner stands in the same micro-batch: whoever holds that has both images and both labels, so the first stage
/// and the last draw the same pairs without a message, on any grid, and no image is decoded twice. In a micro-batch
/// each place is a partner once: place + shift, around its end, with one shift of 1 .. N-1. Samples come in a random
/// order, so a shift pairs them as well as another permutation would. The share is Beta(alpha, alpha), symmetric, so it
/// matters not whose it is called. Nothing is mixed where alpha = 0.
ops::ImageMix draw_mix(const AugmentationSpec& spec, const MixPlace& at);

}  // namespace convoy
