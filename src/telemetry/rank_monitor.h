/// Every rank's sample of every interval, at rank 0, without a rank waiting for another.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "convoy/comm/communicator.h"

#include "telemetry/rank_meter.h"

namespace convoy {

/// By rank: what each did at about the same time.
using RankRound = std::vector<RankSample>;

/// All ranks of the grid call everything, but collect().
class RankMonitor {
 public:
  /// A sample every so many seconds; the first comes sooner.
  RankMonitor(RankRuntime& runtime, double interval_seconds);
  RankMonitor(const RankMonitor&) = delete;
  RankMonitor& operator=(const RankMonitor&) = delete;

  /// Rank 0: by rank; elsewhere empty.
  const std::vector<std::string>& hosts() const { return hosts_; }
  /// Why GPUs are not read; empty where they are, and where there is none. Of this rank.
  std::string why_no_sensors() const;
  /// Whether any rank reads its GPU.
  bool has_sensors() const { return has_sensors_; }

  void begin_step() { meter_.begin_step(); }
  /// After step number `step` of the run. Sends a sample where that is due.
  void end_step(std::int64_t step, double seconds);
  /// Rank 0: the oldest round that has come from all and was not collected; does not wait.
  std::optional<RankRound> collect();
  /// After the last step: sends what is left, and waits until all samples have come.
  void finish(std::int64_t step);

 private:
  struct Packet {
    RankSample sample;
    bool is_last = false;
  };
  /// Of rank 0, for another rank.
  struct Peer {
    Packet packet;
    mpi::Request receive;
    std::deque<RankSample> samples;  ///< that were not collected yet
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
