/// Reads slices in place if the device is the host, and copies them otherwise.
#include "checkpoint/model_fingerprint.h"

#include <array>
#include <cstddef>
#include <vector>

#include "convoy/comm/communicator.h"
#include "convoy/model/arena_layout.h"

#include "checkpoint/arena_tensors.h"

namespace convoy {

namespace {

std::uint64_t part_of_rank(const RankRuntime& runtime) {
  const ArenaLayout& layout = runtime.stage().plan().layout;
  const Shard shard = shard_of(layout, runtime.grid().replica(), runtime.grid().num_replicas());
  const float* const masters = runtime.stage().parameters().masters;
  Device& device = runtime.device();
  std::vector<float> copy(device.is_host() ? 0 : shard.count);
  for (std::size_t b = 0; b < shard.slices.size() && !copy.empty(); ++b)
    device.copy_to_host(copy.data() + shard.offsets[b], masters + shard.slices[b].begin,
                        shard.slices[b].count() * kFloatBytes);
  device.synchronize();
  std::uint64_t sum = 0;
  for (const ShardPiece& piece : pieces_of(layout, shard)) {
    const float* const values = copy.empty() ? masters + piece.entry->offset + piece.first : copy.data() + piece.offset;
    sum += fingerprint_part(piece.entry->spec, piece.first, {values, static_cast<std::size_t>(piece.count)});
  }
  return sum;
}

}  // namespace

// Sums the parts in two halves of 32 bits, since MPI sums signed integers, which must not overflow.
std::uint64_t model_fingerprint(RankRuntime& runtime) {
  runtime.finish();
  const std::uint64_t part = part_of_rank(runtime);
  const std::array<std::int64_t, 2> mine = {static_cast<std::int64_t>(part & 0xffffffffU),
                                            static_cast<std::int64_t>(part >> 32)};
  std::array<std::int64_t, 2> sums{};
  runtime.grid().world().start_sum(mine, sums).wait();
  return static_cast<std::uint64_t>(sums[0]) + (static_cast<std::uint64_t>(sums[1]) << 32);
}

}  // namespace convoy
