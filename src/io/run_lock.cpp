/// A POSIX record lock: the kernel, or the network file system, releases it when the process ends.
#include "convoy/io/run_lock.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "convoy/base/error.h"
#include "convoy/base/host_name.h"
#include "convoy/base/log.h"

namespace convoy::io {

namespace {

std::string holder_of(int file) {
  std::array<char, 256> text{};
  const ssize_t length = pread(file, text.data(), text.size(), 0);
  return length > 0 ? std::string(text.data(), static_cast<std::size_t>(length)) : "another process";
}

FileDescriptor open_lock(const std::string& directory) {
  return FileDescriptor(open((directory + "/lock").c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
}

struct flock whole_file() {
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  return whole;
}

// Whether another process holds the lock.
std::optional<bool> is_held(const FileDescriptor& file) {
  struct flock whole = whole_file();
  if (!file.is_open() || fcntl(file.get(), F_GETLK, &whole) != 0) return std::nullopt;
  return whole.l_type != F_UNLCK;
}

std::string own_name() {
  const char* job = std::getenv("SLURM_JOB_ID");
  return fmt::format("process {} on {}{}", getpid(), host_name(), job != nullptr ? fmt::format(", job {}", job) : "");
}

void make_run_directory(const std::string& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error)
    refuse("run.directory = {} cannot be created: {}. Choose a directory that you may write to.", directory,
           error.message());
}

// Whether the path still names the open file.
bool is_at(const FileDescriptor& file, const std::string& path) {
  struct stat held = {}, named = {};
  return !file.is_open() || fstat(file.get(), &held) != 0 ||
         (stat(path.c_str(), &named) == 0 && held.st_dev == named.st_dev && held.st_ino == named.st_ino);
}

}  // namespace

RunLock::RunLock(const std::string& directory) : directory_(directory) {
  make_run_directory(directory);
  folder_ = FileDescriptor(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::string path = directory_ + "/lock";
  file_ = FileDescriptor(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!file_.is_open())
    refuse("run.directory = {} cannot be written: {}. Choose a directory that you may write to.", directory_,
           std::strerror(errno));
  struct flock whole = whole_file();
  if (fcntl(file_.get(), F_SETLK, &whole) != 0) {
    const bool held = errno == EACCES || errno == EAGAIN;
    if (held)
      refuse("run.directory = {} is in use by {}. Wait for it, or choose another.", directory_, holder_of(file_.get()));
    log_warning(
        fmt::format("{} cannot be locked ({}): make sure that no other run uses it", path, std::strerror(errno)));
    file_ = {};
    return;
  }
  const std::string name = own_name();
  if (ftruncate(file_.get(), 0) != 0 || pwrite(file_.get(), name.data(), name.size(), 0) < 0)
    log_warning(fmt::format("{} cannot be written: {}", path, std::strerror(errno)));
}

void RunLock::check_in_place() {
  const bool has_lock = is_at(file_, directory_ + "/lock");
  const bool is_emptied = !has_lock && !std::filesystem::exists(directory_ + "/params.cfg");  // the run's files, too
  if (!is_at(folder_, directory_) || is_emptied)
    fail(
        "run.directory = {} was moved, renamed or removed while this run used it. Nothing more is saved. To resume "
        "from the newest checkpoint in that directory, set run.directory to its new path",
        directory_);
  if (has_lock || std::exchange(has_warned_, true)) return;
  log_warning(fmt::format(
      "{}/lock was removed or replaced while this run used it: another run can now use the directory at the same time",
      directory_));
}

std::optional<bool> is_locked(const std::string& directory) {
  return is_held(open_lock(directory));
}

std::optional<std::string> find_lock_holder(const std::string& directory) {
  const FileDescriptor file = open_lock(directory);
  return is_held(file) == std::optional(true) ? std::optional(holder_of(file.get())) : std::nullopt;
}

}  // namespace convoy::io
