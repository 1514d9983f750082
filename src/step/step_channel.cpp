/// One message per step from a stage of every replica to rank 0.
#include "step/step_channel.h"

#include <cassert>

namespace convoy {

StepChannel::StepChannel(const RankRuntime& runtime, const Spec& spec) : runtime_(runtime), spec_(spec) {
  for (StepMessages& step : steps_) {
    if (runtime.grid().is_root()) step.received.resize(runtime.plan().micro_batches_per_step() * spec.item_bytes);
    step.receives.resize(runtime.grid().num_replicas());
  }
}

void StepChannel::finish() {
  for (StepMessages& step : steps_) {
    step.send.wait();
    for (mpi::Request& receive : step.receives) receive.wait();
  }
}

void StepChannel::post(std::span<const std::byte> items) {
  const ProcessGrid& grid = runtime_.grid();
  StepMessages& step = steps_[posted_++ % kMaxSteps];
  assert(!grid.is_root() || posted_ - collected_ <= kMaxSteps);
  if (grid.is_root()) {
    for (std::int64_t r = 0; r < grid.num_replicas(); ++r) {
      const MicroBatchRange range = runtime_.plan().micro_batches_of(r);
      step.receives[r] =
          grid.world().start_receive(step.received.data() + range.begin * spec_.item_bytes,
                                     range.size() * spec_.item_bytes, grid.world_rank(r, spec_.stage), spec_.tag);
    }
  }
  if (grid.stage() == spec_.stage) {
    assert(std::ssize(items) == runtime_.micro_batches().size() * spec_.item_bytes);
    step.send.wait();  // of two steps ago
    step.sent.assign(items.begin(), items.end());
    step.send = grid.world().start_send(step.sent.data(), std::ssize(step.sent), 0, spec_.tag);
  }
}

std::span<const std::byte> StepChannel::collect() {
  StepMessages& step = steps_[collected_++ % kMaxSteps];
  for (mpi::Request& receive : step.receives) receive.wait();
  return step.received;
}

}  // namespace convoy
