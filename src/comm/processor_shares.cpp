/// Cuts shares off the smallest parts of a machine first, then off what these leave to the larger ones.
#include "comm/processor_shares.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

namespace convoy {

namespace {

using Processors = std::vector<Processor>;

// From the largest to the smallest.
constexpr std::array kParts = {&Processor::domain, &Processor::package, &Processor::cache, &Processor::core};

bool is_before(const Processor& a, const Processor& b) {
  return std::tie(a.domain, a.package, a.cache, a.core, a.number) <
         std::tie(b.domain, b.package, b.cache, b.core, b.number);
}

// Cuts shares off the processors (in order) of one part of the machine, which is divided further into kParts[level].
// Returns the processors that are left, fewer than a share. It finds as many shares as the part has room for: each of
// its own parts leaves less than a share, and these rests are joined.
Processors cut_shares(std::span<const Processor> processors, std::size_t level, std::size_t size,
                      std::vector<Processors>& shares) {
  Processors rest;
  if (level == kParts.size()) rest.assign(processors.begin(), processors.end());
  while (level < kParts.size() && !processors.empty()) {
    const std::int64_t part = processors.front().*kParts[level];
    const auto end = std::find_if(processors.begin(), processors.end(),
                                  [&](const Processor& one) { return one.*kParts[level] != part; });
    const auto count = static_cast<std::size_t>(end - processors.begin());
    const Processors left = cut_shares(processors.first(count), level + 1, size, shares);
    rest.insert(rest.end(), left.begin(), left.end());
    processors = processors.subspan(count);
  }
  auto begin = rest.begin();
  for (; static_cast<std::size_t>(rest.end() - begin) >= size; begin += static_cast<std::ptrdiff_t>(size))
    shares.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(size));
  rest.erase(rest.begin(), begin);
  return rest;
}

}  // namespace

std::vector<ProcessorSet> divide_processors(std::vector<Processor> processors, std::int64_t size) {
  std::sort(processors.begin(), processors.end(), is_before);
  std::vector<Processors> shares;
  cut_shares(processors, 0, static_cast<std::size_t>(size), shares);
  std::sort(shares.begin(), shares.end(),
            [](const Processors& a, const Processors& b) { return is_before(a.front(), b.front()); });
  std::vector<ProcessorSet> numbers;
  for (const Processors& share : shares) {
    ProcessorSet& set = numbers.emplace_back();
    for (const Processor& one : share) set.push_back(one.number);
    std::sort(set.begin(), set.end());
  }
  return numbers;
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
