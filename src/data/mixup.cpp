/// A shift of the micro-batch, a share of the sample.
#include "data/mixup.h"

#include "convoy/base/random.h"

namespace convoy {

ops::ImageMix draw_mix(const AugmentationSpec& spec, const MixPlace& at) {
  if (spec.mixup == 0 || at.num_places < 2) return {.partner = static_cast<std::int32_t>(at.place), .share = 0};
  const auto key = [&](Purpose purpose, std::int64_t item) {
    return RandomKey{spec.seed, purpose, static_cast<std::uint64_t>(at.epoch), static_cast<std::uint64_t>(item)};
  };
  const auto num_shifts = static_cast<std::uint64_t>(at.num_places - 1);
  const std::uint64_t shift = 1 + random_below(key(Purpose::kMixupPartner, at.micro_batch), 0, num_shifts);
  const std::int64_t partner = (at.place + static_cast<std::int64_t>(shift)) % at.num_places;
  const double share = random_beta(key(Purpose::kMixupShare, at.sample), spec.mixup);
  return {.partner = static_cast<std::int32_t>(partner), .share = static_cast<float>(share)};
}

}  // namespace convoy
