/// Draws partners and shares.
#include "data/draw_mix.h"

#include "convoy/base/random.h"

#include "data/images/crops.h"

namespace convoy {

// Draws a shift for the micro-batch, and a share for each sample.
SampleMix draw_mix(const AugmentParams& params, std::uint64_t seed, const ImageShape& image, const BatchSamples& batch,
                   std::int64_t i) {
  const SampleMix nothing{.image = {.partner = static_cast<std::int32_t>(i)}};
  const std::int64_t batch_size = std::ssize(batch.samples);
  const std::int64_t sample = batch.samples[static_cast<std::size_t>(i)];
  if (!params.mixes() || batch_size < 2 || sample == kNoSample) return nothing;
  const auto key = [&](Purpose purpose, std::int64_t item) {
    return RandomKey{seed, purpose, static_cast<std::uint64_t>(batch.epoch), static_cast<std::uint64_t>(item)};
  };
  const auto num_shifts = static_cast<std::uint64_t>(batch_size - 1);
  const std::uint64_t shift = 1 + random_below(key(Purpose::kMixupPartner, batch.micro_batch), 0, num_shifts);
  const auto partner = static_cast<std::int32_t>((i + static_cast<std::int64_t>(shift)) % batch_size);
  if (batch.samples[static_cast<std::size_t>(partner)] == kNoSample) return nothing;
  const bool pastes =
      params.cutmix > 0 && (params.mixup == 0 || random_below(key(Purpose::kMixKind, batch.micro_batch), 0, 2) == 1);
  if (!pastes) {
    const auto share = static_cast<float>(random_beta(key(Purpose::kMixupShare, sample), params.mixup));
    return {.image = {.partner = partner, .share = share}, .label_share = share};
  }
  const double share = random_beta(key(Purpose::kCutMixShare, sample), params.cutmix);
  const PixelBox box = cutmix_box(image, share, key(Purpose::kCutMixBox, sample));
  const double covered = static_cast<double>(box.count()) / static_cast<double>(image.h * image.w);
  return {
      .image =
          {.partner = partner, .share = 1, .top = box.top, .bottom = box.bottom, .left = box.left, .right = box.right},
      .label_share = static_cast<float>(covered)};
}

}  // namespace convoy
