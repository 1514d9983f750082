/// The snapshot for checkpoint.files = one: all ranks send their copies to rank 0.
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

/// A snapshot that rank 0 receives into arenas of all stages in its host memory. Only a few messages of limited size
/// are in flight at a time.
class GatheredSnapshot final : public Snapshot {
 public:
  /// Allocates snapshot_bytes() of host memory. All ranks of the grid call it.
  explicit GatheredSnapshot(const TrainingStep& training);

  void take(std::int64_t step) override;
  void progress() override;
  bool is_complete() const override;
  io::Checkpoint content() const override;
  std::string not_finite() const override;

 private:
  /// A part of a slice that is sent as one message.
  struct Piece {
    float* data = nullptr;
    std::int64_t count = 0;
    int peer = 0;
  };
  static constexpr std::size_t kMaxInFlight = 4;
  static constexpr std::int64_t kPieceFloats = std::int64_t{1} << 18;  // floats of a message: 1 MiB

  float* arena(std::int64_t stage, std::int64_t group) const;
  float* copy_of(std::int64_t group, std::size_t bucket) const;
  void plan_messages();
  void add_pieces(float* data, std::int64_t count, int peer);
  mpi::Request start(const Piece& piece) const;

  OwnedValues owned_;
  std::vector<std::int64_t> stage_offsets_;  ///< on rank 0, by stage: offset of its arenas in memory_, in floats
  HostBuffer memory_;           ///< floats; on rank 0 the arenas by stage and group, on other ranks shards by group
  std::vector<Piece> pieces_;   ///< in the order in which they are sent or, on rank 0, received
  std::size_t next_piece_ = 0;  ///< index of the next piece to start
  std::array<mpi::Request, kMaxInFlight> in_flight_;
  std::map<std::string, std::int64_t> counters_;  ///< on rank 0: TrainingStep::batch_counters() at take()
};

}  // namespace convoy
