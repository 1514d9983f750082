/// Sends device memory between ranks: messages are created once and started repeatedly, as part of the device's stream
/// of work.
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

/// A message between ranks, created once and started repeatedly. It must be complete before it is started again or
/// destroyed (except while an exception unwinds the stack). Its transport must outlive it.
class Message {
 public:
  virtual ~Message() = default;

  /// Starts the message. It is sent, or its memory is written, after the device work issued so far is done.
  virtual void start() = 0;
  /// Returns whether the message is complete, or was never started. Does not wait. Device work issued after it has
  /// returned true may overwrite the memory that was sent, and sees the data that were received. Must not be called
  /// while a RepeatedWork is being captured, since it makes later device work wait.
  virtual bool test() = 0;
  /// Whether the message has been started and test() has not returned true since.
  virtual bool active() const = 0;
};

using Messages = std::vector<std::unique_ptr<Message>>;

struct MessageSpec {
  mpi::Communicator group;
  void* data = nullptr;  ///< device memory that is sent from or received into
  std::int64_t size_bytes = 0;
  int peer = 0;  ///< rank of the other process in `group`
  int tag = 0;   ///< messages of one tag between two ranks arrive in the order in which they are started
};

/// Messages that travel at the same time, and the device work that follows them.
struct ExchangePhase {
  std::vector<MessageSpec> receives, sends;  ///< messages to start; all belong to one group
  /// Issues element-wise device work on the received data. The messages of the next phase start after this work, and so
  /// does device work that is issued once the exchange is complete. Empty: no work.
  std::function<void()> then = {};
};

struct ReduceScatterSpec {
  mpi::Communicator group;
  const float* data = nullptr;  ///< device memory that holds the parts of all ranks, one after the other
  float* part = nullptr;        ///< device memory that receives the sum of this rank's part
  std::int64_t part_count = 0;  ///< number of floats of a part, the same for each rank
};

/// Sends device memory between ranks. Nothing is allocated after the messages are created. Messages between stages
/// (ProcessGrid::model()) are independent: each travels when it is ready. In any other group all ranks start their
/// exchanges and reductions in the same order.
class Transport {
 public:
  virtual ~Transport() = default;

  /// Returns "MPI", "MPI through pinned host memory" or "NCCL".
  virtual std::string description() const = 0;

  // Functions that create messages. All ranks create them before connect(): for each send the other rank creates a
  // receive with the same group, size and tag, and for each phase of an exchange a phase. Throws Error if MPI carries
  // the message and it has more than 2^31 - 1 bytes, or floats of a reduction.
  virtual std::unique_ptr<Message> send(const MessageSpec& spec) = 0;
  virtual std::unique_ptr<Message> receive(const MessageSpec& spec) = 0;
  /// Creates one message of several phases, which run one after the other. The first phase has at least one message.
  /// The partners of different phases may wait for each other.
  virtual std::unique_ptr<Message> exchange(std::vector<ExchangePhase> phases) = 0;
  /// Creates a sum over the group of which each rank receives its part. MPI or NCCL chooses the order of addition. All
  /// ranks of the group call it.
  virtual std::unique_ptr<Message> reduce_scatter(const ReduceScatterSpec& spec) = 0;
  /// Connects the ranks. All ranks call it once, after all messages are created and before the first start.
  virtual void connect() {}

  /// Makes progress on all messages in flight. Returns false if none is in flight. It is cheap, and is called between
  /// cells and while waiting.
  virtual bool progress() = 0;
  /// Whether a started message still needs calls of progress() to leave this rank. While it does, this rank must not
  /// wait for another rank without calling progress(): the other may be waiting for this message.
  virtual bool holds_back() const = 0;
};

/// Waits until `done()` returns true, and meanwhile makes progress on the transport's messages. Throws Error as
/// mpi::wait_until() does.
template <typename Done>
void wait_until(Transport& transport, Done&& done) {
  mpi::wait_until([&] {
    transport.progress();
    return done();
  });
}

/// Makes a transport for a device whose memory is the host's, which MPI sends directly.
std::unique_ptr<Transport> make_host_transport();

/// Makes a transport that copies device memory to pinned host memory and sends it by MPI: for ranks that share a GPU
/// with other ranks or have no NCCL.
std::unique_ptr<Transport> make_host_copy_transport(Device& device);

/// Makes the best transport for this device: MPI directly if its memory is the host's, NCCL if each rank of the world
/// has a GPU of its own, else MPI through pinned host memory. All ranks of the grid's world call it.
std::unique_ptr<Transport> make_transport(const ProcessGrid& grid, Device& device);

/// Returns the version of the NCCL library that this process has loaded, "NCCL 2.18.3"; empty if Convoy was built
/// without NCCL, or does not find it.
std::string nccl_version();

}  // namespace convoy
