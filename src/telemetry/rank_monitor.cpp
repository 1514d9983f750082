/// A message of each rank to rank 0 per interval; rank 0 looks for them only while its own sample waits for the
/// others'.
#include "telemetry/rank_monitor.h"

#include <algorithm>
#include <cstddef>

#include "convoy/base/clock.h"
#include "convoy/base/host_name.h"
#include "convoy/comm/gather.h"
#include "convoy/comm/tags.h"

namespace convoy {

namespace {

// The first sample comes this soon: a user who watches a run that has just begun wants to see its ranks.
constexpr double kFirstSeconds = 2;

}  // namespace

RankMonitor::RankMonitor(TrainingStep& training, double interval_seconds,
                         std::function<void(const RankSamples&)> on_round)
    : world_(training.runtime().grid().world()),
      meter_(training),
      interval_seconds_(interval_seconds),
      on_round_(std::move(on_round)),
      hosts_(mpi::gather_texts(world_, host_name())),
      has_sensors_(world_.max(meter_.sensors() != nullptr && meter_.sensors()->are_there() ? 1 : 0) != 0) {
  if (!is_root()) return;
  peers_ = std::vector<Peer>(static_cast<std::size_t>(world_.size()));
  for (std::size_t rank = 1; rank < peers_.size(); ++rank) start_receive(rank);
}

void RankMonitor::end_step(const StepResult& result) {
  step_ = result.step;
  meter_.end_step(result.seconds);
  if (meter_.num_steps() > 0) {
    const double now = now_seconds();
    if (due_seconds_ == 0) due_seconds_ = now + std::min(interval_seconds_, kFirstSeconds);
    if (now >= due_seconds_ && send_.test()) {
      due_seconds_ = now + interval_seconds_;
      send(false);
    }
  }
  collect();
}

void RankMonitor::send(bool is_last) {
  const RankSample sample = meter_.take(step_);
  if (is_root()) {
    if (sample.num_steps > 0) peers_.front().samples.push_back(sample);
    return;
  }
  sent_ = {.sample = sample, .is_last = is_last};
  send_ = world_.start_send(&sent_, sizeof sent_, 0, tags::kRankSamples);
}

void RankMonitor::start_receive(std::size_t rank) {
  Peer& peer = peers_[rank];
  peer.receive = world_.start_receive(&peer.packet, sizeof peer.packet, static_cast<int>(rank), tags::kRankSamples);
}

void RankMonitor::take_packet(std::size_t rank) {
  Peer& peer = peers_[rank];
  if (peer.packet.sample.num_steps > 0) peer.samples.push_back(peer.packet.sample);
  peer.has_ended = peer.packet.is_last;
  if (!peer.has_ended) start_receive(rank);
}

void RankMonitor::collect() {
  while (const auto samples = next_round()) on_round_(*samples);
}

// Returns the oldest round whose samples have arrived from all ranks.
std::optional<RankSamples> RankMonitor::next_round() {
  if (peers_.empty() || peers_.front().samples.empty()) return std::nullopt;
  bool is_complete = true;
  for (std::size_t rank = 1; rank < peers_.size(); ++rank) {
    Peer& peer = peers_[rank];
    if (peer.samples.empty() && !peer.has_ended && peer.receive.test()) take_packet(rank);
    is_complete = is_complete && !peer.samples.empty();
  }
  if (!is_complete) return std::nullopt;
  RankSamples samples;
  for (Peer& peer : peers_) {
    samples.push_back(peer.samples.front());
    peer.samples.pop_front();
  }
  return samples;
}

void RankMonitor::finish() {
  meter_.stop();
  send_.wait();
  send(true);
  send_.wait();
  for (std::size_t rank = 1; rank < peers_.size(); ++rank) {
    while (!peers_[rank].has_ended) {
      peers_[rank].receive.wait();
      take_packet(rank);
    }
  }
  collect();
}

}  // namespace convoy
