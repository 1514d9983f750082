/// One message per step from a stage of every replica to rank 0.
#include "step/step_channel.h"

#include <cassert>

namespace convoy {

StepChannel::StepChannel(const RankRuntime& runtime, const Spec& spec) : runtime_(runtime), spec_(spec) {
  for (Slot& slot : slots_) {
    if (runtime.grid().is_root()) slot.received.resize(runtime.plan().micro_batches_per_step() * spec.item_bytes);
    slot.receives.resize(runtime.grid().num_replicas());
  }
}

void StepChannel::finish() {
  for (Slot& slot : slots_) {
    slot.send.wait();
    for (mpi::Request& receive : slot.receives) receive.wait();
  }
}

void StepChannel::post(std::span<const std::byte> items) {
  const ProcessGrid& grid = runtime_.grid();
  Slot& slot = slots_[posted_++ % kSlots];
  assert(!grid.is_root() || posted_ - collected_ <= kSlots);
  if (grid.is_root()) {
    for (std::int64_t r = 0; r < grid.num_replicas(); ++r) {
      const MicroBatchRange range = runtime_.plan().micro_batches_of(r);
      slot.receives[r] =
          grid.world().start_receive(slot.received.data() + range.begin * spec_.item_bytes,
                                     range.size() * spec_.item_bytes, grid.world_rank(r, spec_.stage), spec_.tag);
    }
  }
  if (grid.stage() == spec_.stage) {
    assert(std::ssize(items) == runtime_.micro_batches().size() * spec_.item_bytes);
    slot.send.wait();  // of two steps ago
    slot.sent.assign(items.begin(), items.end());
    slot.send = grid.world().start_send(slot.sent.data(), std::ssize(slot.sent), 0, spec_.tag);
  }
}

std::span<const std::byte> StepChannel::collect() {
  Slot& slot = slots_[collected_++ % kSlots];
  for (mpi::Request& receive : slot.receives) receive.wait();
  return slot.received;
}

}  // namespace convoy
