/// A replica's number, in a place-value system whose digits are the phases.
#include "update/exchange_phases.h"

#include <algorithm>
#include <bit>

#include "convoy/model/arena_layout.h"

namespace convoy {

std::int64_t direct_neighbours(std::int64_t replicas_on_a_node) {
  return replicas_on_a_node < 2 ? kMaxNeighbours : std::min(replicas_on_a_node, kMaxNeighbours);
}

std::vector<std::int64_t> phase_sizes(std::int64_t num_replicas, std::int64_t neighbours) {
  std::vector<std::int64_t> sizes;
  std::int64_t rest = num_replicas;
  const auto add = [&](std::int64_t size) {
    if (size == 1) return;
    sizes.push_back(size);
    rest /= size;
  };
  if (num_replicas <= neighbours) {
    add(num_replicas);
    return sizes;
  }
  const std::int64_t power_of_two = num_replicas & -num_replicas;
  add(std::min(power_of_two, static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(neighbours)))));
  while (rest % 2 == 0) add(2);
  add(rest);
  return sizes;
}

std::vector<TreePhase> tree_phases(std::int64_t replica, std::int64_t num_replicas, std::int64_t neighbours) {
  std::vector<TreePhase> phases;
  std::int64_t block = 1;  // replicas over whose sums those that are exchanged go
  for (const std::int64_t size : phase_sizes(num_replicas, neighbours)) {
    TreePhase& phase = phases.emplace_back();
    phase.me = replica / block % size;
    const std::int64_t kept = num_replicas / (block * size);
    for (std::int64_t i = 0; i < size; ++i) {
      const std::int64_t member = replica + (i - phase.me) * block;
      phase.members.push_back(
          {.replica = member, .keeps = {.first = slice_number(member, num_replicas) / kept * kept, .count = kept}});
    }
    block *= size;
  }
  return phases;
}

}  // namespace convoy
