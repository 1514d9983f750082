/// One run per directory: two jobs in one would mix their logs and checkpoints.
#pragma once

#include <string>

namespace convoy {

/// Holds run.directory's file `lock`, which names its holder, until it is destroyed or the process ends, however it
/// ends.
class RunLock {
 public:
  /// Makes the directory where it is missing. Throws RequestError naming the holder where another process has it, and
  /// where the directory cannot be made or written.
  explicit RunLock(const std::string& directory);
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

 private:
  int file_ = -1;
};

}  // namespace convoy
