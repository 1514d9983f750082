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

/// The suffix of the temporary name of a file that is being written, "PATH.partial". If the process is killed, this
/// file remains; the next process that writes the same file overwrites it.
inline constexpr const char* kPartialSuffix = ".partial";

/// A file that is written under a temporary name in the same directory. commit() renames it to its final name. If the
/// object is destroyed before that, the temporary file is removed, and an older file of the final name stays unchanged.
class AtomicFile {
 public:
  /// Creates the temporary file. `size_bytes` is the expected size of the file, for the message if the disk is full.
  /// Throws Error, as all members do.
  AtomicFile(std::string path, std::uint64_t size_bytes);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Writes the bytes after those of the last write(); the first time, at the beginning of the file.
  void write(std::span<const std::byte> bytes);
  /// Writes the bytes at `offset`. The next write() is not affected.
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes);
  /// Fills `bytes` with what was written at `offset`.
  void read_at(std::uint64_t offset, std::span<std::byte> bytes);
  /// Writes the head of the file at its beginning. Before, the caller has reserved `reserved_bytes` for the head and
  /// has written a body of `body_bytes` after them. If the head is shorter than reserved, the body is moved to follow
  /// it. The file ends after the body. Throws Error, naming `what`, if the head is longer than reserved.
  void write_head(const char* what, std::span<const std::byte> head, std::uint64_t reserved_bytes,
                  std::uint64_t body_bytes);
  /// Moves `size` bytes from offset `from` to offset `to`, which is smaller.
  void move_down(std::uint64_t from, std::uint64_t to, std::uint64_t size);
  /// Closes the file descriptor, of which a process has few. The next call opens the file again.
  void rest();
  /// Flushes the bytes to the disk (fsync). Afterwards only the renaming can fail.
  void finish();
  /// Calls finish() if it was not called before, renames the file to its final name, and flushes the directory to the
  /// disk.
  void commit();

 private:
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

/// Writes a file so that it appears under its name completely or not at all. Throws Error naming the path and the
/// system's reason (if the disk is full, also the size needed); then an older file of this path is intact.
void write_file_atomically(const std::string& path, std::span<const std::byte> bytes);
inline void write_text_atomically(const std::string& path, const std::string& text) {
  write_file_atomically(path, std::as_bytes(std::span(text)));
}

/// Returns all bytes of a file. Throws Error naming the path if the file cannot be read, or is larger than the
/// machine's main memory.
std::vector<std::byte> read_file(const std::string& path);

/// Creates the directory and its missing parent directories. Throws Error naming the directory.
void make_directory(const std::string& directory);

/// Opens a file for reading. Throws Error naming the path and the system's reason.
FileDescriptor open_for_reading(const std::string& path);
/// Opens a file for writing, and makes it empty if it exists. Throws Error naming the path and the system's reason.
/// Also throws if the path exists and is not a regular file: opening a named pipe would wait for a reader.
FileDescriptor open_for_writing(const std::string& path);
/// Throws Error if the path exists and is not a regular file, since renaming a file to this path would replace it.
void check_replaceable(const std::string& path);
/// Returns the text of a file, or nothing if the file does not exist. Throws Error if it cannot be read.
std::optional<std::string> read_text(const std::string& path);
/// Returns the size of a regular file in bytes. Throws Error if it is something else.
std::uint64_t file_size(const FileDescriptor& file, const std::string& path);
/// Writes all bytes to the file at `offset`. Returns 0, or the errno of a failure.
int write_all_at(const FileDescriptor& file, std::uint64_t offset, std::span<const std::byte> bytes);
/// Fills `bytes` with the file's bytes from `offset` on. Throws Error, naming `path`, if the file cannot be read or is
/// too short.
void read_at(const FileDescriptor& file, std::uint64_t offset, std::span<std::byte> bytes, const std::string& path);
/// Returns the size of the machine's main memory in bytes.
std::uint64_t memory_of_machine();
/// Returns all bytes of an open file. Throws Error, naming `path`, if the file cannot be read, or is larger than the
/// machine's main memory.
std::vector<std::byte> read_whole(const FileDescriptor& file, const std::string& path);

}  // namespace convoy::io
