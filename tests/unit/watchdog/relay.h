/// A stranger between a rank and rank 0, who reads what they say, adds to it and cuts their connections.
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "convoy/base/file_descriptor.h"

namespace convoy {

/// A connection to "127.0.0.1 40123".
FileDescriptor connect_raw(const std::string& address);
/// Reads and drops what the other end says, for at most `seconds`; true if it closes the connection in that time.
bool is_closed_within(int socket, double seconds);

class Relay {
 public:
  /// Who connects waits until start(). Processes that are forked in between do not hold its connections open.
  explicit Relay(std::string target);
  ~Relay();
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  void start();

  std::string address() const { return address_; }
  /// All that has come from the ranks so far.
  std::vector<std::byte> heard();
  /// Says this to rank 0 in the place of the rank that has connected last.
  void say(std::span<const std::byte> bytes);
  void cut();

 private:
  struct Pair {
    FileDescriptor rank, root;
  };

  void forward();

  std::string target_, address_;
  FileDescriptor listener_;
  std::mutex mutex_;
  std::vector<Pair> pairs_;
  std::vector<std::byte> heard_;
  std::atomic<bool> ends_ = false;
  std::thread thread_;
};

}  // namespace convoy
