/// Small messages from the last stage of every replica to rank 0.
#include "train/metrics.h"

#include <cassert>

namespace convoy {

StepMetrics& StepMetrics::operator+=(const StepMetrics& other) {
  loss_sum += other.loss_sum;
  num_correct += other.num_correct;
  num_samples += other.num_samples;
  return *this;
}

MetricsChannel::MetricsChannel(const Engine& engine, int tag) : engine_(engine), tag_(tag) {
  for (Slot& slot : slots_) {
    if (engine.grid().is_last_stage()) slot.sent.resize(engine.micro_batches().size());
    if (engine.grid().is_root()) slot.received.resize(engine.plan().micro_batches_a_step());
    slot.receives.resize(engine.grid().num_replicas());
  }
}

void MetricsChannel::finish() {
  for (Slot& slot : slots_) {
    slot.send.wait();
    for (mpi::Request& receive : slot.receives) receive.wait();
  }
}

void MetricsChannel::post() {
  const ProcessGrid& grid = engine_.grid();
  Slot& slot = slots_[posted_++ % kSlots];
  assert(!grid.is_root() || posted_ - collected_ <= kSlots);
  constexpr std::int64_t kItemBytes = sizeof(ops::LossSums);
  if (grid.is_root()) {
    for (std::int64_t r = 0; r < grid.num_replicas(); ++r) {
      const MicroBatchRange range = engine_.plan().micro_batches_of(r);
      slot.receives[r] = grid.world().start_receive(&slot.received[range.begin], range.size() * kItemBytes,
                                                    grid.world_rank(r, grid.num_stages() - 1), tag_);
    }
  }
  if (grid.is_last_stage()) {
    slot.send.wait();  // of two steps ago
    const std::span<const ops::LossSums> sums = engine_.sums();
    slot.sent.assign(sums.begin(), sums.end());
    slot.send = grid.world().start_send(slot.sent.data(), std::ssize(slot.sent) * kItemBytes, 0, tag_);
  }
}

StepMetrics MetricsChannel::collect() {
  Slot& slot = slots_[collected_++ % kSlots];
  for (mpi::Request& receive : slot.receives) receive.wait();
  StepMetrics metrics;
  for (const ops::LossSums& sums : slot.received)
    metrics += {.loss_sum = sums.loss, .num_correct = sums.num_correct, .num_samples = sums.num_samples};
  return metrics;
}

}  // namespace convoy
