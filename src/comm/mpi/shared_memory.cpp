/// A file in memory alone (memfd_create), which the other ranks open through /proc while the first keeps it open.
#include "convoy/comm/shared_memory.h"

#include <cerrno>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "convoy/base/error.h"
#include "convoy/base/file_descriptor.h"
#include "convoy/base/host_name.h"
#include "convoy/base/text.h"
#include "convoy/comm/machine.h"
#include "convoy/comm/on_root.h"

namespace convoy {

namespace {

/// Where the other ranks find rank 0's file, and how they know that it is the one: in a container of its own a rank
/// may find another process's file there.
struct FileAddress {
  pid_t process = 0;
  int number = -1;
  dev_t device = 0;
  ino_t inode = 0;

  std::string path() const { return fmt::format("/proc/{}/fd/{}", process, number); }
  bool is_of(const struct stat& status) const { return status.st_dev == device && status.st_ino == inode; }
};

[[noreturn]] void fail_in(const std::string& what, std::int64_t size_bytes, const std::string& reason) {
  fail("the ranks of {} cannot share {} of memory: {}: {}", host_name(), human_bytes(size_bytes), what, reason);
}

std::string last_error() {
  return std::generic_category().message(errno);
}

std::byte* map(const FileDescriptor& file, std::int64_t size_bytes, int access) {
  void* const data = mmap(nullptr, static_cast<std::size_t>(size_bytes), access, MAP_SHARED, file.get(), 0);
  if (data == MAP_FAILED) fail_in("mmap", size_bytes, last_error());
  madvise(data, static_cast<std::size_t>(size_bytes), MADV_HUGEPAGE);  // advice only
  return static_cast<std::byte*>(data);
}

std::byte* make_file(std::int64_t size_bytes, FileDescriptor& file, FileAddress& address) {
  file = FileDescriptor(memfd_create("convoy", MFD_CLOEXEC));
  if (!file.is_open()) fail_in("memfd_create", size_bytes, last_error());
  if (ftruncate(file.get(), size_bytes) != 0) fail_in("ftruncate", size_bytes, last_error());
  struct stat status = {};
  if (fstat(file.get(), &status) != 0) fail_in("fstat", size_bytes, last_error());
  address = {.process = getpid(), .number = file.get(), .device = status.st_dev, .inode = status.st_ino};
  return map(file, size_bytes, PROT_READ | PROT_WRITE);
}

std::byte* open_file(const FileAddress& address, std::int64_t size_bytes, FileDescriptor& file) {
  const std::string path = address.path();
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) fail_in(path, size_bytes, last_error());
  if (!address.is_of(status))
    fail_in(path, size_bytes, "it is another file, as happens when each rank runs in a container of its own");
  file = FileDescriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) fail_in(path, size_bytes, last_error());
  return map(file, size_bytes, PROT_READ);
}

}  // namespace

mpi::Communicator split_by_memory(const mpi::Communicator& group) {
  const ProcessorSet mine = own_processors();
  const std::int64_t domain = mine.empty() ? 0 : own_machine().domain_of(mine.front());
  return group.split_by_node().split(static_cast<int>(domain), group.rank());
}

SharedMemory::SharedMemory(const mpi::Communicator& group, std::int64_t size_bytes) {
  FileDescriptor file;
  FileAddress address;
  mpi::on_root(group, [&] { data_ = {make_file(size_bytes, file, address), Unmap{size_bytes}}; });
  group.broadcast(&address, sizeof address, 0);
  mpi::on_all(group, [&] {  // and until all have opened it, rank 0 keeps it open
    if (group.rank() > 0) data_ = {open_file(address, size_bytes, file), Unmap{size_bytes}};
  });
}

void SharedMemory::Unmap::operator()(std::byte* data) const noexcept {
  munmap(data, static_cast<std::size_t>(size_bytes));
}

}  // namespace convoy
