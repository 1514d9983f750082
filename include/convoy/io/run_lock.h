/// One run per directory: two jobs in one would mix their logs and checkpoints.
#pragma once

#include <optional>
#include <string>

#include "convoy/base/file_descriptor.h"

namespace convoy::io {

/// Holds run.directory's file `lock`, which names its holder, until it is destroyed or the process ends, however it
/// ends. It keeps out other processes only. The process that holds it must not call is_locked() or find_lock_holder()
/// for this directory: when a process closes the file, POSIX releases its lock.
class RunLock {
 public:
  /// Makes the directory if it is missing. Throws RequestError, naming the holder, if another process holds the lock;
  /// also if the directory cannot be made or written. If the file system cannot lock files, only warns: then other
  /// processes are not kept out.
  explicit RunLock(const std::string& directory);
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

  /// Throws Error if the directory's name now belongs to another directory or to none, or if the directory was emptied:
  /// it was moved or removed. If only its file `lock` was removed, warns once: a new file would keep the directory from
  /// being removed.
  void check_in_place();

 private:
  std::string directory_;
  FileDescriptor folder_, file_;
  bool has_warned_ = false;
};

/// Returns whether another process holds a directory's lock; nothing if there is no lock, or if the file system does
/// not tell. Changes nothing.
std::optional<bool> is_locked(const std::string& directory);

/// Returns the holder of a directory's lock, in the words of RunLock; nothing if the lock is free, or there is no such
/// directory. Changes nothing.
std::optional<std::string> find_lock_holder(const std::string& directory);

}  // namespace convoy::io
