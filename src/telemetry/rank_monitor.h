/// Brings every rank's sample of every interval to rank 0, without a rank waiting for another.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "convoy/comm/communicator.h"

#include "telemetry/rank_meter.h"

namespace convoy {

/// The samples of all ranks, by rank, of about the same time.
using RankRound = std::vector<RankSample>;

/// Collects samples of all ranks. All ranks of the grid call every member except collect().
class RankMonitor {
 public:
  /// Takes a sample every `interval_seconds`; the first comes sooner.
  RankMonitor(RankRuntime& runtime, double interval_seconds);
  RankMonitor(const RankMonitor&) = delete;
  RankMonitor& operator=(const RankMonitor&) = delete;

  /// Rank 0: the host of each rank. Empty elsewhere.
  const std::vector<std::string>& hosts() const { return hosts_; }
  /// Why this rank's GPU is not read; empty if it is, or if there is none.
  std::string why_no_sensors() const;
  /// Whether any rank reads its GPU.
  bool has_sensors() const { return has_sensors_; }

  void begin_step() { meter_.begin_step(); }
  /// Called after step number `step` of the run, which took `seconds`. Sends a sample if one is due.
  void end_step(std::int64_t step, double seconds);
  /// Rank 0: returns the oldest round that has come from all ranks and was not collected; nothing if there is none.
  /// Does not wait.
  std::optional<RankRound> collect();
  /// Called after the last step: sends what is left, and waits until all samples have come.
  void finish(std::int64_t step);

 private:
  struct Packet {
    RankSample sample;
    bool is_last = false;
  };
  /// What rank 0 keeps of a rank.
  struct Peer {
    Packet packet;
    mpi::Request receive;
    std::deque<RankSample> samples;  ///< those that were not collected yet
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
  std::vector<Peer> peers_;  ///< rank 0: by rank, its own with the others
};

}  // namespace convoy
