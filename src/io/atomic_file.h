/// A file that appears under its name whole or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/file_descriptor.h"

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

  /// Behind what was written last.
  void write(std::span<const std::byte> bytes);
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes);
  /// Moves `size` bytes from `from` down to `to`; the file ends behind them.
  void move_down(std::uint64_t from, std::uint64_t to, std::uint64_t size);
  /// Gives the descriptor back until the next call: a process has few.
  void rest();
  /// Brings the bytes to the disk. After this only the renaming can fail.
  void finish();
  /// finish() where it was not called, rename, fsync of the directory.
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
/// All bytes. Throws Error where the machine has less memory than that.
std::vector<std::byte> read_whole(const FileDescriptor& file, const std::string& path);

}  // namespace convoy::io
