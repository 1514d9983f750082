/// Messages of device memory between ranks: created once, started repeatedly, in order with the device's work.
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

/// A message, created once. It must be complete before it is started again or destroyed (except while an exception
/// unwinds). Its transport must outlive it.
class Message {
 public:
  virtual ~Message() = default;

  /// Starts the message. Its memory is ready to be sent, or free to be written, once the device's work issued so far is
  /// done.
  virtual void start() = 0;
  /// Whether the message is complete, or was never started. Does not wait. Device work that is issued after it has
  /// returned true may overwrite what was sent, and sees what was received. Not to be called inside a recording, as it
  /// orders the device's work.
  virtual bool test() = 0;
  /// True from start() until test() has returned true.
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

/// Messages that travel together, and the device work that follows them.
struct ExchangeRound {
  std::vector<MessageSpec> receives, sends;  ///< messages of one group
  /// Issues element-wise device work on what was received. The messages of the next round come after that work, and so
  /// does device work that is issued once the exchange is complete. May be empty.
  std::function<void()> then = {};
};

struct ReduceScatterSpec {
  mpi::Communicator group;
  const float* data = nullptr;  ///< device memory: the parts of all ranks, one after the other
  float* part = nullptr;        ///< device memory: takes the sum of this rank's part
  std::int64_t part_count = 0;  ///< floats, the same for each rank
};

/// Sends device memory between ranks. Nothing is allocated after the messages are created.
///   Between stages (ProcessGrid::model()), messages are independent: each travels when it is ready.
///   In any other group all ranks start their exchanges and reductions in the same order.
class Transport {
 public:
  virtual ~Transport() = default;

  /// Returns "MPI", "MPI through pinned host memory" or "NCCL".
  virtual std::string description() const = 0;

  // Creating messages. All ranks create them before connect(): for each send the other rank creates a receive of the
  // same group, size and tag, and for each round of an exchange a round. Messages that MPI carries have at most 2^31 -
  // 1 bytes, or floats of a reduction: more throws Error.
  virtual std::unique_ptr<Message> send(const MessageSpec& spec) = 0;
  virtual std::unique_ptr<Message> receive(const MessageSpec& spec) = 0;
  /// Creates one message of all rounds, which follow each other; the first round has at least one message. The partners
  /// of the rounds may wait for each other.
  virtual std::unique_ptr<Message> exchange(std::vector<ExchangeRound> rounds) = 0;
  /// Creates a reduction, which adds up in an order that the library chooses. All ranks of the group call it.
  virtual std::unique_ptr<Message> reduce_scatter(const ReduceScatterSpec& spec) = 0;
  /// Connects the ranks. All ranks call it once, after all messages are created and before the first start.
  virtual void connect() {}

  /// Makes progress on all messages in flight; false if none is in flight. It is cheap, and is called between cells and
  /// while waiting.
  virtual bool progress() = 0;
  /// Whether a message that was started needs progress() to leave. As long as one does, this rank must not wait for
  /// another without calling progress(): the other may be waiting for that very message.
  virtual bool holds_back() const = 0;
};

/// Waits until `done()` is true, and makes progress on the transport's messages meanwhile. Throws Error as
/// mpi::wait_until() does.
template <typename Done>
void wait_until(Transport& transport, Done&& done) {
  mpi::wait_until([&] {
    transport.progress();
    return done();
  });
}

/// Makes a transport that sends host memory directly by MPI.
std::unique_ptr<Transport> make_host_transport();

/// Makes a transport by MPI, from and to a pinned copy in host memory: for devices that share a GPU with other ranks or
/// have no NCCL.
std::unique_ptr<Transport> make_staged_transport(Device& device);

/// Makes the best transport for this device: directly from host memory, NCCL if each rank of the world has a GPU of its
/// own, else staged. All ranks of the grid's world call it.
std::unique_ptr<Transport> make_transport(const ProcessGrid& grid, Device& device);

/// Returns the NCCL library that runs, "NCCL 2.18.3"; empty if Convoy was built without it, or does not find it.
std::string nccl_version();

}  // namespace convoy
