/// Reads slices in place if the device is the host, and copies them otherwise.
#include "checkpoint/model_fingerprint.h"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "convoy/comm/communicator.h"
#include "convoy/model/arena_layout.h"

namespace convoy {

namespace {

/// Returns the part of the fingerprint that the slice's values contribute; the slice may begin and end within tensors.
/// `values` begin with the slice's first.
std::uint64_t part_of_slice(const ArenaLayout& layout, const Slice& slice, std::span<const float> values) {
  std::uint64_t sum = 0;
  for (const ArenaEntry& entry : layout.entries) {
    const std::int64_t begin = std::max(entry.offset, slice.begin);
    const std::int64_t end = std::min(entry.offset + entry.spec.count(), slice.end);
    if (begin < end)
      sum += fingerprint_part(entry.spec, begin - entry.offset, values.subspan(begin - slice.begin, end - begin));
  }
  return sum;
}

std::uint64_t part_of_rank(const RankRuntime& runtime) {
  const ArenaLayout& layout = runtime.stage().plan().layout;
  const float* const masters = runtime.stage().parameters().masters;
  Device& device = runtime.device();
  std::vector<float> copy;
  std::uint64_t sum = 0;
  for (const Slice& slice : shard_of(layout, runtime.grid().replica(), runtime.grid().num_replicas()).slices) {
    if (device.is_host()) {
      sum += part_of_slice(layout, slice, {masters + slice.begin, static_cast<std::size_t>(slice.count())});
      continue;
    }
    copy.resize(slice.count());
    device.copy_to_host(copy.data(), masters + slice.begin, slice.count() * kFloatBytes);
    device.synchronize();
    sum += part_of_slice(layout, slice, copy);
  }
  return sum;
}

}  // namespace

// Sums the parts in two halves of 32 bits, since MPI sums signed integers, which must not overflow.
std::uint64_t model_fingerprint(RankRuntime& runtime) {
  runtime.finish();
  runtime.device().synchronize();
  const std::uint64_t part = part_of_rank(runtime);
  const std::array<std::int64_t, 2> mine = {static_cast<std::int64_t>(part & 0xffffffffU),
                                            static_cast<std::int64_t>(part >> 32)};
  std::array<std::int64_t, 2> sums{};
  runtime.grid().world().start_sum(mine, sums).wait();
  return static_cast<std::uint64_t>(sums[0]) + (static_cast<std::uint64_t>(sums[1]) << 32);
}

}  // namespace convoy
