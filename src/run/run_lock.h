/// One run per directory: two jobs in one would mix their logs and checkpoints.
#pragma once

#include <optional>
#include <string>

#include "convoy/base/file_descriptor.h"

namespace convoy {

/// Holds run.directory's file `lock`, which names its holder, until it is destroyed or the process ends, however it
/// ends.
class RunLock {
 public:
  /// Makes the directory where it is missing. Throws RequestError naming the holder where another process has it, and
  /// where the directory cannot be made or written.
  explicit RunLock(const std::string& directory);
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

  /// Throws Error if another directory or none has the name, or if it was emptied: it was moved or removed. If only its
  /// file `lock` was removed, warns once: a new one would keep the directory from being removed.
  void check_in_place();

 private:
  std::string directory_;
  FileDescriptor folder_, file_;
  bool has_warned_ = false;
};

/// Who holds the lock of a directory, as RunLock names it; nothing where it is free, or there is none. Changes nothing.
std::optional<std::string> find_lock_holder(const std::string& directory);

}  // namespace convoy
