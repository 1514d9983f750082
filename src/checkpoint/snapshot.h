/// A copy in memory of what a checkpoint holds, so that steps go on while it travels to rank 0 and is written.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "convoy/comm/communicator.h"
#include "convoy/device/device.h"
#include "convoy/io/checkpoint.h"
#include "convoy/model/arena_layout.h"

#include "plan/step_plan.h"
#include "step/rank_runtime.h"

namespace convoy {

/// Each rank copies what it alone keeps: its slices of the parameters (running statistics are among them), of the
/// optimizer's slots and of the moving average. Rank 0 receives the slices of the others into arenas of all stages.
/// Memory is taken once; a few messages of a limited size travel at a time, and only progress() moves them on.
class Snapshot {
 public:
  /// Takes snapshot_bytes() of memory. `runtime` outlives it.
  explicit Snapshot(const RankRuntime& runtime);
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

  /// Copies, between two steps, and starts to send. All ranks; the one before is complete.
  void take();
  /// Tests the messages in flight and starts the next ones. Neither waits nor allocates.
  void progress();
  /// Whether this rank has sent its part; on rank 0, received those of all.
  bool is_complete() const;
  /// Waits until it is. All ranks.
  void finish();
  /// Rank 0, complete: what gather_checkpoint() would have returned when it was taken. In any thread.
  io::Checkpoint content() const;

 private:
  /// A piece of a slice.
  struct Piece {
    float* data = nullptr;
    std::int64_t count = 0;
    int peer = 0;
  };
  static constexpr std::size_t kMaxInFlight = 4;
  static constexpr std::int64_t kPieceFloats = std::int64_t{1} << 18;  // 1 MiB

  float* arena(std::int64_t stage, std::int64_t kind) const;
  float* copy_of(std::int64_t kind, std::size_t bucket) const;
  void plan_messages();
  void add_pieces(float* data, std::int64_t count, int peer);
  mpi::Request start(const Piece& piece) const;

  const RankRuntime& runtime_;
  std::vector<std::string> slots_;
  std::int64_t num_kinds_;  ///< of values: 0 parameters, then each slot, then the moving average where one is kept
  Shard shard_;             ///< this rank's
  std::vector<std::int64_t> stage_offsets_;  ///< rank 0: where each stage's arenas begin, floats
  HostBuffer memory_;                        ///< rank 0: arenas by stage and kind; elsewhere shards by kind
  std::vector<Piece> pieces_;                ///< sent, or on rank 0 received, in this order
  std::size_t next_piece_ = 0;
  std::array<mpi::Request, kMaxInFlight> in_flight_;
  std::map<std::string, std::int64_t> counters_;  ///< rank 0
};

/// What a snapshot takes of the host's memory: on rank 0, or on another rank of this stage.
std::int64_t snapshot_bytes(const StepPlan& plan, std::int64_t stage, bool is_root);

}  // namespace convoy
