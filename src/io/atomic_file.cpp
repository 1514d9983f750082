/// Writes files so that a crash, a kill or a full disk never leaves half a file under its final name; and reads files.
#include "convoy/io/atomic_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "convoy/base/error.h"
#include "convoy/base/text.h"

namespace convoy::io {

namespace {

constexpr std::size_t kLargestTransfer = std::size_t{1} << 30;  // Linux moves at most 2^31 - 4096 bytes a call

std::string directory_of(const std::string& path) {
  const std::string directory = std::filesystem::path(path).parent_path().string();
  return directory.empty() ? "." : directory;
}

// Without it a crash of the machine may forget the renaming.
void sync_directory(const std::string& path) {
  const std::string directory = directory_of(path);
  const FileDescriptor descriptor(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!descriptor.is_open() || (::fsync(descriptor.get()) != 0 && errno != EINVAL)) {  // EINVAL: it has no such thing
    fail("cannot write directory '{}' to the disk: {}", directory, std::strerror(errno));
  }
}

void check_is_regular(const struct stat& status, const std::string& path) {
  if (S_ISREG(status.st_mode)) return;
  const char* kind = S_ISDIR(status.st_mode)    ? "directory"
                     : S_ISFIFO(status.st_mode) ? "named pipe"
                                                : "device or socket";
  fail("'{}' is not a file but a {}. Remove it, or choose another path", path, kind);
}

// What the partial file takes will be free again.
std::string room_for(const std::string& path, const std::string& partial_path) {
  struct statvfs space = {};
  if (::statvfs(directory_of(path).c_str(), &space) != 0) return "an unknown amount";
  struct stat partial = {};
  const std::int64_t taken = ::stat(partial_path.c_str(), &partial) == 0 ? std::int64_t{partial.st_blocks} * 512 : 0;
  return human_bytes(static_cast<std::int64_t>(space.f_bavail * space.f_frsize) + taken);
}

}  // namespace

AtomicFile::AtomicFile(std::string path, std::uint64_t size_bytes)
    : path_(std::move(path)), partial_path_(path_ + kPartialSuffix), size_bytes_(size_bytes) {
  check_replaceable(path_);
  check_replaceable(partial_path_);
  file_ = FileDescriptor(::open(partial_path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!file_.is_open()) fail_with_system_reason("create", errno);
}

AtomicFile::~AtomicFile() {
  if (!committed_) ::unlink(partial_path_.c_str());
}

void AtomicFile::open_again() {
  if (file_.is_open()) return;
  file_ = FileDescriptor(::open(partial_path_.c_str(), O_RDWR | O_CLOEXEC));
  if (!file_.is_open()) fail_with_system_reason("write", errno);
}

void AtomicFile::rest() {
  file_ = FileDescriptor();
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  write_at(position_, bytes);
  position_ += bytes.size();
}

void AtomicFile::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  open_again();
  size_bytes_ = std::max(size_bytes_, offset + bytes.size());
  if (const int error_number = write_all_at(file_, offset, bytes)) fail_with_system_reason("write", error_number);
}

void AtomicFile::move_down(std::uint64_t from, std::uint64_t to, std::uint64_t size) {
  open_again();
  std::vector<std::byte> chunk(std::min<std::uint64_t>(size, std::uint64_t{1} << 20));
  for (std::uint64_t done = 0; done < size;) {
    const auto part = std::span(chunk).first(std::min<std::uint64_t>(chunk.size(), size - done));
    read_at(from + done, part);
    write_at(to + done, part);
    done += part.size();
  }
}

void AtomicFile::read_at(std::uint64_t offset, std::span<std::byte> bytes) {
  open_again();
  io::read_at(file_, offset, bytes, partial_path_);
}

void AtomicFile::write_head(const char* what, std::span<const std::byte> head, std::uint64_t reserved_bytes,
                            std::uint64_t body_bytes) {
  if (head.size() > reserved_bytes)
    fail("the head of {} takes {} bytes, but {} were reserved for it", what, head.size(), reserved_bytes);
  if (head.size() < reserved_bytes) move_down(reserved_bytes, head.size(), body_bytes);
  write_at(0, head);
  position_ = head.size() + body_bytes;
  if (::ftruncate(file_.get(), static_cast<off_t>(position_)) != 0) fail_with_system_reason("write", errno);
}

void AtomicFile::finish() {
  if (finished_) return;
  open_again();
  if (::fsync(file_.get()) != 0) fail_with_system_reason("write", errno);
  rest();
  finished_ = true;
}

void AtomicFile::commit() {
  finish();
  if (std::rename(partial_path_.c_str(), path_.c_str()) != 0)
    fail_with_system_reason("rename the finished file to", errno);
  committed_ = true;
  sync_directory(path_);
}

void AtomicFile::fail_with_system_reason(const char* action, int error_number) const {
  const std::string needed = human_bytes(static_cast<std::int64_t>(size_bytes_));
  if (error_number == ENOSPC || error_number == EDQUOT || error_number == EFBIG) {
    fail("cannot {} '{}': {} (the file needs {}, the disk has {} free). Make room, or raise the quota or 'ulimit -f'.",
         action, path_, std::strerror(error_number), needed, room_for(path_, partial_path_));
  }
  fail("cannot {} '{}': {}", action, path_, std::strerror(error_number));
}

FileDescriptor open_for_reading(const std::string& path) {
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));  // a pipe would wait for its writer
  if (!file.is_open()) fail("cannot open '{}': {}", path, std::strerror(errno));
  return file;
}

FileDescriptor open_for_writing(const std::string& path) {
  check_replaceable(path);
  FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!file.is_open()) fail("cannot write '{}': {}", path, std::strerror(errno));
  return file;
}

void check_replaceable(const std::string& path) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) == 0) check_is_regular(status, path);
}

std::optional<std::string> read_text(const std::string& path) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  const std::vector<std::byte> bytes = read_file(path);
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

std::uint64_t file_size(const FileDescriptor& file, const std::string& path) {
  struct stat status = {};
  if (::fstat(file.get(), &status) != 0) fail("cannot get the status of '{}': {}", path, std::strerror(errno));
  check_is_regular(status, path);
  return static_cast<std::uint64_t>(status.st_size);
}

int write_all_at(const FileDescriptor& file, std::uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const std::size_t count = std::min(bytes.size(), kLargestTransfer);
    const ssize_t written = ::pwrite(file.get(), bytes.data(), count, static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    offset += static_cast<std::uint64_t>(written);
  }
  return 0;
}

void read_at(const FileDescriptor& file, std::uint64_t offset, std::span<std::byte> bytes, const std::string& path) {
  while (!bytes.empty()) {
    const std::size_t count = std::min(bytes.size(), kLargestTransfer);
    const ssize_t got = ::pread(file.get(), bytes.data(), count, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("cannot read '{}': {}", path, std::strerror(errno));
    if (got == 0) fail("cannot read '{}': it ended at byte {}, {} more were expected", path, offset, bytes.size());
    bytes = bytes.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
}

void write_file_atomically(const std::string& path, std::span<const std::byte> bytes) {
  AtomicFile file(path, bytes.size());
  file.write(bytes);
  file.commit();
}

void make_directory(const std::string& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) fail("cannot create directory '{}': {}", directory, error.message());
}

std::uint64_t memory_of_machine() {
  return static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

std::vector<std::byte> read_whole(const FileDescriptor& file, const std::string& path) {
  // The system would grant the memory, and kill the process for using it.
  const std::uint64_t size = file_size(file, path), limit = memory_of_machine();
  if (size > limit)
    fail("cannot read '{}': its size is {}, but this machine has only {} of memory", path,
         human_bytes(static_cast<std::int64_t>(size)), human_bytes(static_cast<std::int64_t>(limit)));
  std::vector<std::byte> bytes(size);
  read_at(file, 0, bytes, path);
  return bytes;
}

std::vector<std::byte> read_file(const std::string& path) {
  return read_whole(open_for_reading(path), path);
}

}  // namespace convoy::io
