/// Sends the measurements of every rank to rank 0 at intervals, without making a rank wait for another.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "convoy/comm/communicator.h"

#include "telemetry/rank_meter.h"

namespace convoy {

/// One sample of each rank, by rank, of about the same time.
using RankSamples = std::vector<RankSample>;

/// Collects the samples of all ranks on rank 0. All ranks of the grid call every member.
class RankMonitor final : public StepObserver {
 public:
  /// Takes a sample every `interval_seconds`; the first one earlier. Rank 0 calls `on_round` between steps with each
  /// round that has arrived from all ranks. `training` must outlive this object.
  RankMonitor(TrainingStep& training, double interval_seconds, std::function<void(const RankSamples&)> on_round);
  RankMonitor(const RankMonitor&) = delete;
  RankMonitor& operator=(const RankMonitor&) = delete;

  /// The name of each rank's host, on rank 0; empty on other ranks.
  const std::vector<std::string>& hosts() const { return hosts_; }
  /// Why the sensors of this rank's GPU cannot be read; empty if they can, or if it has no GPU.
  std::string why_no_sensors() const { return meter_.sensors() == nullptr ? "" : meter_.sensors()->why_absent(); }
  /// Whether at least one rank can read the sensors of its GPU.
  bool has_sensors() const { return has_sensors_; }

  void begin_step(std::int64_t /*step*/) override { meter_.begin_step(); }
  /// Sends a sample to rank 0 if one is due. Does not wait.
  void end_step(const StepResult& result) override;
  /// Sends the remaining measurements. Rank 0 waits until all have arrived.
  void finish() override;

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
  void send(bool is_last);
  void start_receive(std::size_t rank);
  void take_packet(std::size_t rank);
  void collect();
  std::optional<RankSamples> next_round();

  const mpi::Communicator& world_;
  RankMeter meter_;
  double interval_seconds_, due_seconds_ = 0;
  std::function<void(const RankSamples&)> on_round_;
  std::int64_t step_ = 0;  ///< number of the latest step
  std::vector<std::string> hosts_;
  bool has_sensors_ = false;
  Packet sent_;
  mpi::Request send_;
  std::vector<Peer> peers_;  ///< on rank 0: by rank, itself included; empty on other ranks
};

}  // namespace convoy
