/// Cuts arenas into tensors.
#include "checkpoint/arena_tensors.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <unordered_map>

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
  for (auto& [slot, tensors] : checkpoint.optimizer) sort(tensors);
}

}  // namespace convoy
