/// Copies from the arenas and shards of a rank to the host.
#include "checkpoint/owned_values.h"

#include "convoy/io/checkpoint_parts.h"

namespace convoy {

OwnedValues::OwnedValues(const TrainingStep& training)
    : training_(training),
      groups_{io::groups::kModel},
      shard_(
          shard_of_rank(training.runtime(), training.runtime().grid().replica(), training.runtime().grid().stage())) {
  for (const std::string& slot : training.optimizer().slot_names()) groups_.push_back(io::groups::of_optimizer(slot));
  if (training.has_ema()) groups_.emplace_back(io::groups::kEma);
}

bool OwnedValues::has_statistics(std::int64_t group) const {
  return groups_[group] == io::groups::kModel || groups_[group] == io::groups::kEma;
}

void OwnedValues::copy(const std::function<float*(std::int64_t group, std::size_t bucket)>& to) const {
  const ShardedUpdate& update = training_.update();
  Device& device = training_.runtime().device();
  std::vector<const float*> shards;
  for (const float* slot : update.slots()) shards.push_back(slot);
  if (training_.has_ema()) shards.push_back(update.ema());
  for (std::size_t b = 0; b < shard_.slices.size(); ++b) {
    const Slice& slice = shard_.slices[b];
    const std::int64_t bytes = slice.count() * kFloatBytes;
    device.copy_to_host(to(0, b), training_.runtime().stage().parameters().masters + slice.begin, bytes);
    for (std::size_t k = 0; k < shards.size(); ++k)
      device.copy_to_host(to(1 + static_cast<std::int64_t>(k), b), shards[k] + shard_.offsets[b], bytes);
  }
  device.synchronize();
}

Shard shard_of_rank(const RankRuntime& runtime, std::int64_t replica, std::int64_t stage) {
  return shard_of(runtime.plan().stages()[stage].layout, replica, runtime.grid().num_replicas());
}

}  // namespace convoy
