/// Sends the measurements of every rank to rank 0 at intervals, without making a rank wait for another.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "convoy/comm/communicator.h"

#include "telemetry/rank_meter.h"

namespace convoy {

/// One sample of each rank, by rank, of about the same time.
using RankRound = std::vector<RankSample>;

/// Collects the samples of all ranks on rank 0. All ranks of the grid call every member, except collect().
class RankMonitor {
 public:
  /// Takes a sample every `interval_seconds`; the first one earlier. `training` must outlive this object.
  RankMonitor(TrainingStep& training, double interval_seconds);
  RankMonitor(const RankMonitor&) = delete;
  RankMonitor& operator=(const RankMonitor&) = delete;

  /// The name of each rank's host, on rank 0; empty on other ranks.
  const std::vector<std::string>& hosts() const { return hosts_; }
  /// Why the sensors of this rank's GPU cannot be read; empty if they can, or if it has no GPU.
  std::string why_no_sensors() const;
  /// Whether at least one rank can read the sensors of its GPU.
  bool has_sensors() const { return has_sensors_; }

  /// Called before each training step.
  void begin_step() { meter_.begin_step(); }
  /// Called after step number `step` of the run, which took `seconds`. Sends a sample to rank 0 if one is due.
  void end_step(std::int64_t step, double seconds);
  /// Called on rank 0: returns the oldest round that was not yet collected, if its samples have arrived from all ranks;
  /// otherwise nothing. Does not wait.
  std::optional<RankRound> collect();
  /// Called after the last step, number `step`: sends the remaining measurements. Rank 0 waits until all have arrived.
  void finish(std::int64_t step);

 private:
  /// The message of a rank to rank 0.
  struct Packet {
    RankSample sample;
    bool is_last = false;
  };
  /// The messages of one rank on rank 0.
  struct Peer {
    Packet packet;
    mpi::Request receive;
    std::deque<RankSample> samples;  ///< samples that were not collected yet, the oldest first
    bool has_ended = false;
  };

  bool is_root() const { return world_.rank() == 0; }
  void send(std::int64_t step, bool is_last);
  void start_receive(std::size_t rank);
  void take_packet(std::size_t rank);

  const mpi::Communicator& world_;
  RankMeter meter_;
  double interval_seconds_, due_seconds_ = 0;
  std::vector<std::string> hosts_;
  bool has_sensors_ = false;
  Packet sent_;
  mpi::Request send_;
  std::vector<Peer> peers_;  ///< on rank 0: by rank, itself included; empty on other ranks
};

}  // namespace convoy
