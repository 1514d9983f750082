/// Cuts arenas into tensors, and copies the slices of a rank to the host.
#include "checkpoint/arena_tensors.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>

#include "convoy/io/checkpoint_parts.h"

namespace convoy {

void append_tensors(const ArenaLayout& layout, std::span<const float> arena, bool with_statistics,
                    std::vector<io::NamedTensor>& tensors) {
  for (const ArenaEntry& entry : layout.entries) {
    if (entry.spec.is_statistic() && !with_statistics) continue;
    io::NamedTensor& tensor = tensors.emplace_back();
    tensor.name = entry.spec.name;
    tensor.dims = entry.spec.dims;
    tensor.values.resize(entry.spec.count());
    to_file_order(entry.spec, arena.subspan(entry.offset, tensor.values.size()), tensor.values);
  }
}

std::vector<ShardPiece> pieces_of(const ArenaLayout& layout, const Shard& shard) {
  std::vector<ShardPiece> pieces;
  for (std::size_t b = 0; b < shard.slices.size(); ++b) {
    const Slice& slice = shard.slices[b];
    for (const ArenaEntry& entry : layout.entries) {
      const std::int64_t begin = std::max(slice.begin, entry.offset);
      const std::int64_t end = std::min(slice.end, entry.offset + entry.spec.count());
      if (begin >= end) continue;
      pieces.push_back({.entry = &entry,
                        .first = begin - entry.offset,
                        .count = end - begin,
                        .offset = shard.offsets[b] + begin - slice.begin});
    }
  }
  return pieces;
}

Shard shard_of_rank(const RankRuntime& runtime, std::int64_t replica, std::int64_t stage) {
  return shard_of(runtime.plan().stages()[stage].layout, replica, runtime.grid().num_replicas());
}

OwnedValues::OwnedValues(const TrainingStep& training)
    : training_(training),
      groups_{io::groups::kModel},
      shard_(
          shard_of_rank(training.runtime(), training.runtime().grid().replica(), training.runtime().grid().stage())) {
  for (const std::string& state : training.optimizer().state_names())
    groups_.push_back(io::groups::of_optimizer(state));
  if (training.has_ema()) groups_.emplace_back(io::groups::kEma);
}

bool OwnedValues::has_statistics(std::int64_t group) const {
  return groups_[group] == io::groups::kModel || groups_[group] == io::groups::kEma;
}

void OwnedValues::copy(const std::function<float*(std::int64_t group, std::size_t bucket)>& to) const {
  const ShardedUpdate& update = training_.update();
  Device& device = training_.runtime().device();
  std::vector<const float*> shards;
  for (const float* state : update.states()) shards.push_back(state);
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

void sort_as_network(const Network& network, io::Checkpoint& checkpoint) {
  std::unordered_map<std::string, std::int64_t> order;
  for (const auto& cell : network)
    for (const auto& entry : cell->memory().parameters()) order.emplace(entry.spec.name, std::ssize(order));
  const auto sort = [&](std::vector<io::NamedTensor>& tensors) {
    std::sort(tensors.begin(), tensors.end(),
              [&](const io::NamedTensor& a, const io::NamedTensor& b) { return order.at(a.name) < order.at(b.name); });
  };
  sort(checkpoint.model);
  sort(checkpoint.ema);
  for (auto& [state, tensors] : checkpoint.optimizer) sort(tensors);
}

}  // namespace convoy
