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

}  // namespace convoy
