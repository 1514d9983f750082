/// Slices are copied to where they are sent from, on rank 0 to where the file is made from.
#include "checkpoint/snapshot.h"

#include <algorithm>
#include <iterator>
#include <span>

#include "convoy/base/shape.h"
#include "convoy/comm/tags.h"

#include "checkpoint/arena_tensors.h"

namespace convoy {

namespace {

constexpr std::int64_t kParameters = 0;

const ArenaLayout& layout_of(const RankRuntime& runtime, std::int64_t stage) {
  return runtime.plan().stages()[stage].layout;
}

Shard shard_of_rank(const RankRuntime& runtime, std::int64_t replica, std::int64_t stage) {
  return shard_of(layout_of(runtime, stage), replica, runtime.grid().num_replicas());
}

}  // namespace

Snapshot::Snapshot(const RankRuntime& runtime)
    : runtime_(runtime),
      slots_(runtime.optimizer().slot_names()),
      num_kinds_(1 + std::ssize(slots_) + (runtime.has_ema() ? 1 : 0)),
      shard_(shard_of_rank(runtime, runtime.grid().replica(), runtime.grid().stage())),
      memory_(runtime.device(), snapshot_bytes(runtime.plan(), runtime.grid().stage(), runtime.grid().is_root())) {
  if (runtime.grid().is_root()) {
    std::int64_t offset = 0;
    for (std::int64_t s = 0; s < runtime.grid().num_stages(); ++s) {
      stage_offsets_.push_back(offset);
      offset += num_kinds_ * layout_of(runtime, s).count;
    }
  }
  plan_messages();
  next_piece_ = pieces_.size();
}

float* Snapshot::arena(std::int64_t stage, std::int64_t kind) const {
  return memory_.floats() + stage_offsets_[stage] + kind * layout_of(runtime_, stage).count;
}

// Of this rank's slice.
float* Snapshot::copy_of(std::int64_t kind, std::size_t bucket) const {
  const ProcessGrid& grid = runtime_.grid();
  if (grid.is_root()) return arena(grid.stage(), kind) + shard_.slices[bucket].begin;
  return memory_.floats() + kind * shard_.count + shard_.offsets[bucket];
}

void Snapshot::add_pieces(float* data, std::int64_t count, int peer) {
  for (std::int64_t first = 0; first < count; first += kPieceFloats)
    pieces_.push_back({.data = data + first, .count = std::min(kPieceFloats, count - first), .peer = peer});
}

// Both ends of a message list a rank's pieces in the same order, and messages of one tag do not overtake each other.
void Snapshot::plan_messages() {
  const ProcessGrid& grid = runtime_.grid();
  if (!grid.is_root()) {
    for (std::int64_t kind = 0; kind < num_kinds_; ++kind)
      for (std::size_t b = 0; b < shard_.slices.size(); ++b)
        add_pieces(copy_of(kind, b), shard_.slices[b].count(), /*peer=*/0);
    return;
  }
  for (std::int64_t r = 0; r < grid.num_replicas(); ++r) {
    for (std::int64_t s = 0; s < grid.num_stages(); ++s) {
      const int peer = grid.world_rank(r, s);
      if (peer == 0) continue;
      for (std::int64_t kind = 0; kind < num_kinds_; ++kind)
        for (const Slice& slice : shard_of_rank(runtime_, r, s).slices)
          add_pieces(arena(s, kind) + slice.begin, slice.count(), peer);
    }
  }
}

void Snapshot::take() {
  const ShardedUpdate& update = runtime_.update();
  Device& device = runtime_.device();
  std::vector<const float*> shards;
  for (const float* slot : update.slots()) shards.push_back(slot);
  if (runtime_.has_ema()) shards.push_back(update.ema());
  for (std::size_t b = 0; b < shard_.slices.size(); ++b) {
    const std::int64_t bytes = shard_.slices[b].count() * kFloatBytes;
    device.copy_to_host(copy_of(kParameters, b), runtime_.stage().parameters().masters + shard_.slices[b].begin, bytes);
    for (std::size_t k = 0; k < shards.size(); ++k)
      device.copy_to_host(copy_of(1 + static_cast<std::int64_t>(k), b), shards[k] + shard_.offsets[b], bytes);
  }
  device.synchronize();
  if (runtime_.grid().is_root()) counters_ = runtime_.batch_counters();
  next_piece_ = 0;
  progress();
}

mpi::Request Snapshot::start(const Piece& piece) const {
  const ProcessGrid& grid = runtime_.grid();
  const std::int64_t bytes = piece.count * kFloatBytes;
  return grid.is_root() ? grid.beside_steps().start_receive(piece.data, bytes, piece.peer, tags::kSnapshot)
                        : grid.beside_steps().start_send(piece.data, bytes, piece.peer, tags::kSnapshot);
}

void Snapshot::progress() {
  for (mpi::Request& request : in_flight_)
    if (request.test() && next_piece_ < pieces_.size()) request = start(pieces_[next_piece_++]);
}

bool Snapshot::is_complete() const {
  return next_piece_ == pieces_.size() && std::ranges::none_of(in_flight_, &mpi::Request::active);
}

// As long as it takes, as Request::wait() does: a rank that has died is the watchdog's matter.
void Snapshot::finish() {
  progress();
  if (is_complete()) return;
  runtime_.board().wait_for(Wait::kRanks);
  for (mpi::Backoff backoff; !is_complete(); backoff.pause()) progress();
  runtime_.board().go_on();
}

io::Checkpoint Snapshot::content() const {
  io::Checkpoint checkpoint;
  checkpoint.counters = counters_;
  for (std::int64_t s = 0; s < runtime_.grid().num_stages(); ++s) {
    const ArenaLayout& layout = layout_of(runtime_, s);
    const auto append = [&](std::int64_t kind, bool with_statistics, std::vector<io::NamedTensor>& tensors) {
      append_tensors(layout, {arena(s, kind), static_cast<std::size_t>(layout.count)}, with_statistics, tensors);
    };
    append(kParameters, true, checkpoint.model);
    for (std::size_t k = 0; k < slots_.size(); ++k)
      append(1 + static_cast<std::int64_t>(k), false, checkpoint.optimizer[slots_[k]]);
    if (runtime_.has_ema()) append(num_kinds_ - 1, true, checkpoint.ema);
  }
  sort_as_network(runtime_.plan().network(), checkpoint);
  return checkpoint;
}

std::int64_t snapshot_bytes(const StepPlan& plan, std::int64_t stage, bool is_root) {
  const std::int64_t kinds = 1 + plan.num_slots();
  std::int64_t floats = 0;
  if (is_root) {
    for (const StagePlan& each : plan.stages()) floats += each.layout.count;
  } else {
    for (std::int64_t r = 0; r < plan.grid().replicas; ++r)
      floats = std::max(floats, shard_of(plan.stages()[stage].layout, r, plan.grid().replicas).count);
  }
  return kinds * floats * kFloatBytes;
}

}  // namespace convoy
