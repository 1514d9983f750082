/// Files: read, and written so that they appear under their names completely or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "convoy/base/file_descriptor.h"

namespace convoy::io {

/// Where a file is written before it gets its name: "PATH.partial". A killed process leaves it; the next one of the
/// same name overwrites it.
inline constexpr const char* kPartialSuffix = ".partial";

/// Written under a temporary name in the same directory; commit() gives it its own. Destroyed before that, it leaves
/// nothing behind and an older file of the name as it was.
class AtomicFile {
 public:
  /// `size_bytes` is what will be written in all, as far as it is known: messages about a full disk say it. Throws
  /// Error, as all members do.
  AtomicFile(std::string path, std::uint64_t size_bytes);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// After what was written last.
  void write(std::span<const std::byte> bytes);
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes);
  /// Writes the head of `what` before its body of `body_bytes`, which stands at `reserved_bytes` and moves down where
  /// the head is shorter than that; then the file ends after it.
  void write_head(const char* what, std::span<const std::byte> head, std::uint64_t reserved_bytes,
                  std::uint64_t body_bytes);
  /// Gives the descriptor back until the next call: a process has few.
  void rest();
  /// Brings the bytes to the disk. After this only the renaming can fail.
  void finish();
  /// finish() where it was not called, rename, fsync of the directory.
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

/// Temporary name (PATH.partial), write, fsync, rename, fsync of the directory. Throws Error naming the path and
/// the system's reason (no space left: how much was needed); the temporary file is removed, an older `path` is intact.
void write_file_atomically(const std::string& path, std::span<const std::byte> bytes);
inline void write_text_atomically(const std::string& path, const std::string& text) {
  write_file_atomically(path, std::as_bytes(std::span(text)));
}

/// The whole file. Throws Error naming the path, also where the machine has less memory than that.
std::vector<std::byte> read_file(const std::string& path);

/// Makes it, and those above it, where they are missing. Throws Error naming the directory.
void make_directory(const std::string& directory);

/// Opens for reading; throws Error naming the path and the system's reason.
FileDescriptor open_for_reading(const std::string& path);
/// Opens an empty file for writing. Throws Error naming the path and the system's reason, also where something else
/// than a regular file has the name: a named pipe would wait for its reader.
FileDescriptor open_for_writing(const std::string& path);
/// Throws Error where something else than a regular file has the name: who renames a file to it would replace it.
void check_replaceable(const std::string& path);
/// The whole text; nothing where no such file is found. Throws Error where it cannot be read.
std::optional<std::string> read_text(const std::string& path);
/// Size of a regular file; throws Error where it is something else.
std::uint64_t file_size(const FileDescriptor& file, const std::string& path);
/// Returns 0, or errno where it failed.
int write_all_at(const FileDescriptor& file, std::uint64_t offset, std::span<const std::byte> bytes);
/// Fills `bytes` from `offset`; throws Error where the file ends before.
void read_at(const FileDescriptor& file, std::uint64_t offset, std::span<std::byte> bytes, const std::string& path);
/// In bytes.
std::uint64_t memory_of_machine();
/// All bytes. Throws Error where the machine has less memory than that.
std::vector<std::byte> read_whole(const FileDescriptor& file, const std::string& path);

}  // namespace convoy::io
