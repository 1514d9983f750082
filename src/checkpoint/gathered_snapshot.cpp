/// The snapshot for checkpoint.files = one: all ranks send their copies to rank 0. They copy their slices to the memory
/// that they are sent from; rank 0 receives them into arenas of all stages, from which the file is made.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "convoy/comm/communicator.h"
#include "convoy/comm/tags.h"
#include "convoy/device/device.h"

#include "checkpoint/arena_tensors.h"
#include "checkpoint/snapshot.h"

namespace convoy {

namespace {

constexpr std::size_t kMaxInFlight = 4;
constexpr std::int64_t kPieceFloats = std::int64_t{1} << 18;  // floats of a message: 1 MiB

/// Only a few messages of limited size are in flight at a time.
class GatheredSnapshot final : public Snapshot {
 public:
  explicit GatheredSnapshot(const TrainingStep& training)
      : Snapshot(training),
        owned_(training),
        memory_(runtime().device(),
                snapshot_bytes(runtime().plan(), runtime().grid().stage(), runtime().grid().is_root())) {
    if (runtime().grid().is_root()) {
      std::int64_t offset = 0;
      for (std::int64_t s = 0; s < runtime().grid().num_stages(); ++s) {
        stage_offsets_.push_back(offset);
        offset += owned_.num_groups() * layout_of(s).count;
      }
    }
    plan_messages();
    next_piece_ = pieces_.size();
  }

  void take(std::int64_t /*step*/) override {
    owned_.copy([&](std::int64_t group, std::size_t bucket) { return copy_of(group, bucket); });
    if (runtime().grid().is_root()) counters_ = training().batch_counters();
    next_piece_ = 0;
    progress();
  }

  void progress() override {
    for (mpi::Request& request : in_flight_)
      if (request.test() && next_piece_ < pieces_.size()) request = start(pieces_[next_piece_++]);
  }

  bool is_complete() const override {
    return next_piece_ == pieces_.size() && std::ranges::none_of(in_flight_, &mpi::Request::active);
  }

  io::Checkpoint content() const override {
    io::Checkpoint checkpoint;
    checkpoint.counters = counters_;
    for (std::int64_t s = 0; s < runtime().grid().num_stages(); ++s) {
      const ArenaLayout& layout = layout_of(s);
      for (std::int64_t group = 0; group < owned_.num_groups(); ++group)
        append_tensors(layout, {arena(s, group), static_cast<std::size_t>(layout.count)}, owned_.has_statistics(group),
                       tensors_of(checkpoint, group));
    }
    sort_as_network(runtime().plan().network(), checkpoint);
    return checkpoint;
  }

  std::string not_finite() const override {
    for (std::int64_t s = 0; s < runtime().grid().num_stages(); ++s) {
      for (const ArenaEntry& entry : layout_of(s).entries) {
        const std::span values(arena(s, 0) + entry.offset, static_cast<std::size_t>(entry.spec.count()));
        if (!std::ranges::all_of(values, [](float value) { return std::isfinite(value); })) return entry.spec.name;
      }
    }
    return "";
  }

 private:
  /// A part of a slice that is sent as one message.
  struct Piece {
    float* data = nullptr;
    std::int64_t count = 0;
    int peer = 0;
  };

  const ArenaLayout& layout_of(std::int64_t stage) const { return runtime().plan().stages()[stage].layout; }

  // Returns the tensors of a group of the checkpoint.
  std::vector<io::NamedTensor>& tensors_of(io::Checkpoint& checkpoint, std::int64_t group) const {
    if (group == 0) return checkpoint.model;
    const std::vector<std::string> states = training().optimizer().state_names();
    return group <= std::ssize(states) ? checkpoint.optimizer[states[group - 1]] : checkpoint.ema;
  }

  float* arena(std::int64_t stage, std::int64_t group) const {
    return memory_.floats() + stage_offsets_[stage] + group * layout_of(stage).count;
  }

  // Returns the memory for the copy of this rank's slice.
  float* copy_of(std::int64_t group, std::size_t bucket) const {
    const ProcessGrid& grid = runtime().grid();
    const Shard& shard = owned_.shard();
    if (grid.is_root()) return arena(grid.stage(), group) + shard.slices[bucket].begin;
    return memory_.floats() + group * shard.count + shard.offsets[bucket];
  }

  void add_pieces(float* data, std::int64_t count, int peer) {
    for (std::int64_t first = 0; first < count; first += kPieceFloats)
      pieces_.push_back({.data = data + first, .count = std::min(kPieceFloats, count - first), .peer = peer});
  }

  // Plans the messages. Both ends list a rank's pieces in the same order, and messages of one tag do not overtake each
  // other.
  void plan_messages() {
    const ProcessGrid& grid = runtime().grid();
    if (!grid.is_root()) {
      for (std::int64_t group = 0; group < owned_.num_groups(); ++group)
        for (std::size_t b = 0; b < owned_.shard().slices.size(); ++b)
          add_pieces(copy_of(group, b), owned_.shard().slices[b].count(), /*peer=*/0);
      return;
    }
    for (std::int64_t r = 0; r < grid.num_replicas(); ++r) {
      for (std::int64_t s = 0; s < grid.num_stages(); ++s) {
        const int peer = grid.world_rank(r, s);
        if (peer == 0) continue;
        for (std::int64_t group = 0; group < owned_.num_groups(); ++group)
          for (const Slice& slice : shard_of_rank(runtime(), r, s).slices)
            add_pieces(arena(s, group) + slice.begin, slice.count(), peer);
      }
    }
  }

  mpi::Request start(const Piece& piece) const {
    const ProcessGrid& grid = runtime().grid();
    const std::int64_t bytes = piece.count * kFloatBytes;
    return grid.is_root() ? grid.beside_steps().start_receive(piece.data, bytes, piece.peer, tags::kSnapshot)
                          : grid.beside_steps().start_send(piece.data, bytes, piece.peer, tags::kSnapshot);
  }

  OwnedValues owned_;
  std::vector<std::int64_t> stage_offsets_;  ///< on rank 0, by stage: offset of its arenas in memory_, in floats
  HostBuffer memory_;           ///< floats; on rank 0 the arenas by stage and group, on other ranks shards by group
  std::vector<Piece> pieces_;   ///< in the order in which they are sent or, on rank 0, received
  std::size_t next_piece_ = 0;  ///< index of the next piece to start
  std::array<mpi::Request, kMaxInFlight> in_flight_;
  std::map<std::string, std::int64_t> counters_;  ///< on rank 0: TrainingStep::batch_counters() at take()
};

}  // namespace

std::unique_ptr<Snapshot> make_gathered_snapshot(const TrainingStep& training) {
  return std::make_unique<GatheredSnapshot>(training);
}

}  // namespace convoy
