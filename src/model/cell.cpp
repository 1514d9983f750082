/// Places in a cell's memory, each on a cache line of its own.
#include "convoy/model/cell.h"

#include <algorithm>

namespace convoy {

namespace {
constexpr std::int64_t kAlignmentBytes = 64;
constexpr std::int64_t kAlignmentFloats = kAlignmentBytes / static_cast<std::int64_t>(sizeof(float));
}  // namespace

ParameterRef CellMemory::parameter(ParameterSpec spec) {
  const ParameterRef place{arena_count_};
  arena_count_ += round_up(spec.count(), kAlignmentFloats);
  parameters_.push_back({std::move(spec), place});
  return place;
}

std::int64_t CellMemory::reserve(std::int64_t& total_bytes, std::int64_t size_bytes) {
  const std::int64_t offset = total_bytes;
  total_bytes += round_up(size_bytes, kAlignmentBytes);
  return offset;
}

void Cell::freeze(const std::function<bool(const std::string& name)>& wanted) {
  std::vector<CellMemory::Entry>& entries = memory_.parameters();
  for (CellMemory::Entry& entry : entries) entry.spec.frozen = wanted(entry.spec.name);
  frozen_ = std::all_of(entries.begin(), entries.end(),
                        [](const CellMemory::Entry& entry) { return entry.spec.frozen || entry.spec.is_statistic(); });
  if (!frozen_) return;
  for (CellMemory::Entry& entry : entries) entry.spec.frozen = true;
}

}  // namespace convoy
