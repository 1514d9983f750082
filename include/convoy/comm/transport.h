/// Messages of device memory between ranks: created once, started again and again, in order with the device's work.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "convoy/comm/communicator.h"
#include "convoy/comm/process_grid.h"
#include "convoy/device/device.h"

namespace convoy {

/// A message, created once. Must be complete before it is started again or destroyed (except while an exception
/// unwinds); its transport outlives it.
class Message {
 public:
  virtual ~Message() = default;

  /// The memory is ready to be sent, or free to be written, once the device's work issued so far is done.
  virtual void start() = 0;
  /// Whether it is complete (or never started). Does not wait. From then on device work that is issued may overwrite
  /// what was sent, and sees what was received. Orders the device's work, so not inside a recording.
  virtual bool test() = 0;
  /// From start() until test() has said true.
  virtual bool active() const = 0;
};

using Messages = std::vector<std::unique_ptr<Message>>;

struct MessageSpec {
  mpi::Communicator group;
  void* data = nullptr;  ///< device memory; only read by a send
  std::int64_t size_bytes = 0;
  int peer = 0;  ///< rank in the group
  int tag = 0;   ///< messages of one tag between two ranks arrive in the order in which they are started
};

/// Messages that travel together, and what follows them.
struct ExchangeRound {
  std::vector<MessageSpec> receives, sends;  ///< of one group
  /// Issues device work on what was received (element-wise work alone), which the next round's messages come after, as
  /// does what is issued once the exchange is complete. May be empty.
  std::function<void()> then = {};
};

struct ReduceScatterSpec {
  mpi::Communicator group;
  const float* data = nullptr;  ///< device memory: the parts of all ranks, one after the other
  float* part = nullptr;        ///< device memory: takes the sum of this rank's part
  std::int64_t part_count = 0;  ///< floats, the same for each rank
};

/// How device memory travels. Nothing is allocated after the messages are created.
///   Between stages (ProcessGrid::model()), messages are independent: whichever is ready travels.
///   In any other group all ranks start their exchanges and reductions in one order, the same on all of them.
class Transport {
 public:
  virtual ~Transport() = default;

  /// "MPI", "MPI through pinned host memory", "NCCL".
  virtual std::string description() const = 0;

  // Creating messages. All ranks create them before connect(); for each send there is a receive with its group, size
  // and tag, and for each round of an exchange one on the other rank. Messages that MPI carries have at most 2^31 - 1
  // bytes, or floats of a reduction: more throws Error.
  virtual std::unique_ptr<Message> send(const MessageSpec& spec) = 0;
  virtual std::unique_ptr<Message> receive(const MessageSpec& spec) = 0;
  /// All rounds, one after the other, as one message; the first has at least one message. Their partners may wait for
  /// each other.
  virtual std::unique_ptr<Message> exchange(std::vector<ExchangeRound> rounds) = 0;
  /// Summed in an order that the library chooses. All ranks of the group.
  virtual std::unique_ptr<Message> reduce_scatter(const ReduceScatterSpec& spec) = 0;
  /// All ranks, once, after all messages are created and before the first start.
  virtual void connect() {}

  /// Makes progress on all messages in flight. Cheap; called between cells and while waiting. False if none is in
  /// flight.
  virtual bool progress() = 0;
  /// Whether something that was started needs progress() to leave. As long as it does, this rank waits for no other
  /// without calling it: the other may be waiting for that very message.
  virtual bool holds_back() const = 0;
};

/// Waits until `done()` is true, and moves the transport's messages on meanwhile (mpi::wait_until).
template <typename Done>
void wait_until(Transport& transport, Done&& done) {
  mpi::wait_until([&] {
    transport.progress();
    return done();
  });
}

/// Straight from host memory by MPI.
std::unique_ptr<Transport> make_host_transport();

/// By MPI, from and to a pinned copy in host memory: for devices that share a GPU with other ranks or have no NCCL.
std::unique_ptr<Transport> make_staged_transport(Device& device);

/// The best for this device: host memory directly, NCCL where each rank of the world has a GPU of its own, else staged.
/// All ranks of the grid's world.
std::unique_ptr<Transport> make_transport(const ProcessGrid& grid, Device& device);

/// "NCCL 2.18.3": the library that runs; empty where Convoy was built without it.
std::string nccl_version();

}  // namespace convoy
