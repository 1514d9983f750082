/// A POSIX record lock: the kernel, or the network file system, releases it when the process ends.
#include "run/run_lock.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "convoy/base/error.h"
#include "convoy/base/host_name.h"
#include "convoy/base/log.h"

namespace convoy {

namespace {

std::string holder_of(int file) {
  std::array<char, 256> text{};
  const ssize_t length = pread(file, text.data(), text.size(), 0);
  return length > 0 ? std::string(text.data(), static_cast<std::size_t>(length)) : "another process";
}

std::string own_name() {
  const char* job = std::getenv("SLURM_JOB_ID");
  return fmt::format("process {} on {}{}", getpid(), host_name(), job != nullptr ? fmt::format(", job {}", job) : "");
}

void make_directory(const std::string& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error)
    refuse("run.directory = {} cannot be created: {}. Choose a directory that you may write to.", directory,
           error.message());
}

}  // namespace

RunLock::RunLock(const std::string& directory) : directory_(directory) {
  make_directory(directory);
  const std::string path = directory + "/lock";
  file_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file_ < 0)
    refuse("run.directory = {} cannot be written: {}. Choose a directory that you may write to.", directory,
           std::strerror(errno));
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  if (fcntl(file_, F_SETLK, &whole) != 0) {
    const bool held = errno == EACCES || errno == EAGAIN;
    const std::string holder = holder_of(file_);
    close(file_);
    if (held) refuse("run.directory = {} is in use by {}. Wait for it, or choose another.", directory, holder);
    log_warning(
        fmt::format("{} cannot be locked ({}): make sure that no other run uses it", path, std::strerror(errno)));
    file_ = -1;
    return;
  }
  const std::string name = own_name();
  if (ftruncate(file_, 0) != 0 || pwrite(file_, name.data(), name.size(), 0) < 0)
    log_warning(fmt::format("{} cannot be written: {}", path, std::strerror(errno)));
}

void RunLock::check_in_place() const {
  struct stat held = {}, named = {};
  if (file_ < 0 || fstat(file_, &held) != 0) return;
  const bool is_same =
      stat((directory_ + "/lock").c_str(), &named) == 0 && held.st_dev == named.st_dev && held.st_ino == named.st_ino;
  if (!is_same)
    fail(
        "run.directory = {} was moved, renamed or removed while this run used it. Nothing more is saved: the run "
        "resumes from the newest checkpoint in that directory, wherever it is now, with run.directory = its new path",
        directory_);
}

RunLock::~RunLock() {
  if (file_ >= 0) close(file_);
}

std::optional<std::string> find_lock_holder(const std::string& directory) {
  const int file = open((directory + "/lock").c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return std::nullopt;
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  std::optional<std::string> holder;
  if (fcntl(file, F_GETLK, &whole) == 0 && whole.l_type != F_UNLCK) holder = holder_of(file);
  close(file);
  return holder;
}

}  // namespace convoy
