/// Takes snapshots for checkpoint.files = one: what all ranks copied is sent to rank 0.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "convoy/comm/communicator.h"
#include "convoy/device/device.h"

#include "checkpoint/owned_values.h"
#include "checkpoint/snapshot.h"

namespace convoy {

/// A snapshot whose slices rank 0 receives into arenas of all stages. A few messages of a limited size travel at a
/// time.
class GatheredSnapshot final : public Snapshot {
 public:
  /// Allocates snapshot_bytes() of memory.
  explicit GatheredSnapshot(const RankRuntime& runtime);

  void take(std::int64_t step) override;
  void progress() override;
  bool is_complete() const override;
  io::Checkpoint content() const override;
  std::string not_finite() const override;

 private:
  /// A piece of a slice, sent as one message.
  struct Piece {
    float* data = nullptr;
    std::int64_t count = 0;
    int peer = 0;
  };
  static constexpr std::size_t kMaxInFlight = 4;
  static constexpr std::int64_t kPieceFloats = std::int64_t{1} << 18;  // 1 MiB

  float* arena(std::int64_t stage, std::int64_t group) const;
  float* copy_of(std::int64_t group, std::size_t bucket) const;
  void plan_messages();
  void add_pieces(float* data, std::int64_t count, int peer);
  mpi::Request start(const Piece& piece) const;

  OwnedValues owned_;
  std::vector<std::int64_t> stage_offsets_;  ///< rank 0: offset of each stage's arenas, in floats
  HostBuffer memory_;                        ///< rank 0: arenas by stage and group; elsewhere shards by group
  std::vector<Piece> pieces_;                ///< sent, or on rank 0 received, in this order
  std::size_t next_piece_ = 0;
  std::array<mpi::Request, kMaxInFlight> in_flight_;
  std::map<std::string, std::int64_t> counters_;  ///< used on rank 0
};

}  // namespace convoy
