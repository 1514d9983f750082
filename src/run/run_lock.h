/// One run per directory: two jobs in one would mix their logs and checkpoints.
#pragma once

#include <optional>
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

  /// Throws Error where the directory is not there any more, or is another: it was moved or removed.
  void check_in_place() const;

 private:
  std::string directory_;
  int file_ = -1;
};

/// Who holds the lock of a directory, as RunLock names it; nothing where it is free, or there is none. Changes nothing.
std::optional<std::string> find_lock_holder(const std::string& directory);

}  // namespace convoy
