/// What the executor and the sharded update do with messages, on any device and transport: each function moves known
/// values about and returns how many floats came out wrong. The tests say which devices and transports.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "convoy/comm/process_grid.h"
#include "convoy/comm/transport.h"
#include "convoy/device/device.h"

namespace convoy::test {

/// All ranks as stages of one pipeline.
const ProcessGrid& one_pipeline();

/// The ranks of the ring.
int next();
int previous();

/// A device, a transport on it, and a main loop that lets the device work while it waits.
class Rig {
 public:
  using Work = std::function<void()>;

  struct Parts {
    std::unique_ptr<Device> device;
    std::unique_ptr<Transport> transport;
    std::function<void(Work)> issue;    ///< puts work on the device
    std::function<void()> on_progress;  ///< lets a device that does nothing by itself go on
  };
  explicit Rig(Parts parts) : parts_(std::move(parts)) {}

  Device& device() { return *parts_.device; }
  Transport& transport() { return *parts_.transport; }
  void issue(Work work) { parts_.issue(std::move(work)); }
  void on_progress() { parts_.on_progress(); }
  void wait_for(Message& message);
  void wait_for(const Messages& messages);
  /// The end of all work and all messages.
  void finish();

 private:
  Parts parts_;
};

/// Every rank sends `num_messages` to the next, in turn from and to `num_frames` frames: a frame is filled again as
/// soon as its last message has left, and each receive is started as soon as the work that reads its frame is issued.
struct RingSpec {
  std::int64_t num_messages = 40;
  std::int64_t num_frames = 3;
  std::int64_t count = 1500;  ///< floats: above the eager limit of 4 KiB
};
std::int64_t differences_in_ring(Rig& rig, const RingSpec& spec);

/// y = 2 x + stage forward through the ranks and dx = 3 dy + x back, as a pipeline does: all forward, all backward.
std::int64_t differences_in_pipeline(Rig& rig, std::int64_t num_micro_batches);

/// Exchanges of as many phases as ranks, each of which sends what the one before has added up; that of bucket b + 1
/// travels while bucket b is waited for: the sharded update.
std::int64_t differences_in_exchange(Rig& rig, std::int64_t num_steps);

/// Two reductions at once, again and again.
std::int64_t differences_in_reduce_scatter(Rig& rig, std::int64_t num_steps);

}  // namespace convoy::test
