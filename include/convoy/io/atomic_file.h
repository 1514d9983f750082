/// Reads and writes files; a written file appears under its name completely or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "convoy/base/file_descriptor.h"

namespace convoy::io {

/// The suffix of the name under which a file is written before it gets its own: "PATH.partial". A killed process leaves
/// this file; the next process that writes the same file overwrites it.
inline constexpr const char* kPartialSuffix = ".partial";

/// A file that is written under a temporary name in the same directory; commit() gives it its own. If it is destroyed
/// before that, the temporary file is removed and an older file of the name stays as it was.
class AtomicFile {
 public:
  /// Creates the temporary file. `size_bytes` is the size of the file as far as it is known, for messages about a full
  /// disk. Throws Error, as all members do.
  AtomicFile(std::string path, std::uint64_t size_bytes);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Writes the bytes after those of the last write().
  void write(std::span<const std::byte> bytes);
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes);
  /// Writes the head of `what` before its body of `body_bytes`, which begins at `reserved_bytes`. If the head is
  /// shorter than that, the body moves down and the file ends after it. Throws Error if the head is longer.
  void write_head(const char* what, std::span<const std::byte> head, std::uint64_t reserved_bytes,
                  std::uint64_t body_bytes);
  /// Closes the descriptor until the next call: a process has few.
  void rest();
  /// Brings the bytes to the disk. Afterwards only the renaming can fail.
  void finish();
  /// Calls finish() if it was not called before, renames the file, and brings the directory to the disk.
  void commit();

 private:
  /// Moves `size` bytes from `from` down to `to`; the file ends after them.
  void move_down(std::uint64_t from, std::uint64_t to, std::uint64_t size);
  [[noreturn]] void fail_with_system_reason(const char* action, int error_number) const;
  void open_again();

  std::string path_;
  std::string partial_path_;
  std::uint64_t size_bytes_;
  std::uint64_t position_ = 0;
  FileDescriptor file_;
  bool finished_ = false;
  bool committed_ = false;
};

/// Writes a file by AtomicFile. Throws Error naming the path and the system's reason (no space left: how much was
/// needed); then the temporary file is removed and an older `path` is intact.
void write_file_atomically(const std::string& path, std::span<const std::byte> bytes);
inline void write_text_atomically(const std::string& path, const std::string& text) {
  write_file_atomically(path, std::as_bytes(std::span(text)));
}

/// Returns all bytes of a file. Throws Error naming the path if it cannot be read or the machine has less memory than
/// that.
std::vector<std::byte> read_file(const std::string& path);

/// Makes the directory and those above it that are missing. Throws Error naming the directory.
void make_directory(const std::string& directory);

/// Opens a file for reading. Throws Error naming the path and the system's reason.
FileDescriptor open_for_reading(const std::string& path);
/// Opens an empty file for writing. Throws Error naming the path and the system's reason, also if the path exists and
/// is not a regular file: a named pipe would wait for its reader.
FileDescriptor open_for_writing(const std::string& path);
/// Throws Error if the path exists and is not a regular file: renaming a file to it would replace it.
void check_replaceable(const std::string& path);
/// Returns the text of a file, or nothing if no such file is found. Throws Error if it cannot be read.
std::optional<std::string> read_text(const std::string& path);
/// Returns the size of a regular file in bytes. Throws Error if it is something else.
std::uint64_t file_size(const FileDescriptor& file, const std::string& path);
/// Writes all bytes at `offset`. Returns 0, or errno if it failed.
int write_all_at(const FileDescriptor& file, std::uint64_t offset, std::span<const std::byte> bytes);
/// Fills `bytes` with the file's bytes from `offset` on. Throws Error if the file cannot be read or ends before.
void read_at(const FileDescriptor& file, std::uint64_t offset, std::span<std::byte> bytes, const std::string& path);
/// Returns the size of the machine's main memory in bytes.
std::uint64_t memory_of_machine();
/// Returns all bytes of an open file. Throws Error if it cannot be read or the machine has less memory than that.
std::vector<std::byte> read_whole(const FileDescriptor& file, const std::string& path);

}  // namespace convoy::io
