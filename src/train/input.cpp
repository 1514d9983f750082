/// Loader settings of a rank.
#include "train/input.h"

namespace convoy {

LoaderSpec loader_spec(const Engine& engine, const Parameters& params) {
  const MicroBatchRange range = engine.micro_batches();
  return {.batch_global = params.batch.global,
          .batch_micro = params.batch.micro,
          .first_micro_batch = range.begin,
          .num_micro_batches = range.size(),
          .images = engine.grid().is_first_stage(),
          .labels = engine.grid().is_last_stage(),
          .threads = params.data.loader_threads,
          .type = engine.plan().spec().network.type};
}

Augmenter make_augmenter(const io::DatasetInfo& info, const AugmentationSpec& spec, bool normalize) {
  if (normalize) return Augmenter(info.image, spec, info.channel_mean, info.channel_deviation);
  const auto channels = static_cast<std::size_t>(info.image.c);
  return Augmenter(info.image, spec, std::vector<double>(channels, 0.0), std::vector<double>(channels, 1.0));
}

}  // namespace convoy
