/// Cuts shares off the smallest parts of a machine first, then off what these leave to the larger ones.
#include "comm/processor_shares.h"

#include <algorithm>
#include <map>

#include <hwloc.h>

namespace convoy {

namespace {

using Parts = std::vector<const hwloc_obj*>;

// Cuts shares off the processors of one part of the machine, and adds them to `shares`, by the position of the first
// processor of each. Returns the processors that are left, fewer than a share. It finds as many shares as the part has
// room for: each of its own parts leaves less than a share, and these rests are joined.
Parts cut_shares(const hwloc_obj* part, const ProcessorSet& processors, std::size_t size,
                 std::map<unsigned, ProcessorSet>& shares) {
  Parts left;
  if (part->arity == 0 && std::ranges::binary_search(processors, part->os_index)) left.push_back(part);
  for (unsigned i = 0; i < part->arity; ++i) {
    const Parts more = cut_shares(part->children[i], processors, size, shares);
    left.insert(left.end(), more.begin(), more.end());
  }
  for (; left.size() >= size; left.erase(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(size))) {
    ProcessorSet& share = shares[left.front()->logical_index];
    for (std::size_t i = 0; i < size; ++i) share.push_back(left[i]->os_index);
    std::ranges::sort(share);
  }
  return left;
}

bool knows(const Machine& machine, const ProcessorSet& processors) {
  return machine.root() != nullptr && std::ranges::all_of(processors, [&](std::int64_t number) {
           return hwloc_bitmap_isset(machine.root()->cpuset, static_cast<unsigned>(number)) != 0;
         });
}

}  // namespace

std::vector<ProcessorSet> divide_processors(const Machine& machine, const ProcessorSet& processors, std::int64_t size) {
  std::vector<ProcessorSet> all;
  if (knows(machine, processors)) {
    std::map<unsigned, ProcessorSet> shares;
    cut_shares(machine.root(), processors, static_cast<std::size_t>(size), shares);
    for (const auto& [position, share] : shares) all.push_back(share);
  } else {
    for (auto begin = processors.begin(); begin != processors.end(); begin += size)
      all.emplace_back(begin, begin + size);
  }
  return all;
}

std::optional<std::size_t> find_share(std::span<const AffinityMask> masks, std::size_t rank,
                                      std::int64_t threads_per_rank, std::int64_t quota) {
  const AffinityMask& mine = masks[rank];
  const std::int64_t processors = count_processors(mine);
  const std::int64_t sharers = std::count(masks.begin(), masks.end(), mine);
  const bool is_in_part = std::any_of(masks.begin(), masks.end(),
                                      [&](const AffinityMask& mask) { return mask != mine && overlap(mask, mine); });
  if (sharers < 2 || is_in_part || quota < processors || sharers * threads_per_rank != processors) return std::nullopt;
  return static_cast<std::size_t>(std::count(masks.begin(), masks.begin() + static_cast<std::ptrdiff_t>(rank), mine));
}

}  // namespace convoy
