/// A child of this process, with nothing open, waits for the launcher's end. After fork() it calls only what is safe
/// there, as other threads may have held locks.
#include "watch/launcher.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <fstream>
#include <string>

#include <poll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace convoy {

namespace {

constexpr rlim_t kMaxFiles = 1 << 16;

bool is_open_mpi(pid_t process) {
  constexpr std::array kNames = {"mpirun", "mpiexec", "orterun", "orted", "prterun", "prted", "prte"};
  std::ifstream file("/proc/" + std::to_string(process) + "/comm");
  std::string name;
  std::getline(file, name);
  return std::ranges::find(kNames, name) != kNames.end();
}

// What is written to a pipe must not look unfinished: the launcher waits for that, too.
void close_all_but(int kept, rlim_t num_files) {
  for (rlim_t file = 0; file < num_files; ++file)
    if (static_cast<int>(file) != kept) ::close(static_cast<int>(file));
}

}  // namespace

void end_launcher_after(std::chrono::milliseconds patience) noexcept {
  try {
    const pid_t launcher = ::getppid();
    if (!is_open_mpi(launcher)) return;
    // Names this process for good: its number may be another's later. Older kernels do not have it.
    const auto handle = static_cast<int>(::syscall(SYS_pidfd_open, launcher, 0));
    if (handle < 0) return;
    rlimit files = {};
    ::getrlimit(RLIMIT_NOFILE, &files);
    if (::fork() != 0) return;
    ::setsid();
    close_all_but(handle, std::min(files.rlim_cur, kMaxFiles));
    pollfd ended{.fd = handle, .events = POLLIN, .revents = 0};
    if (::poll(&ended, 1, static_cast<int>(patience.count())) == 0)
      ::syscall(SYS_pidfd_send_signal, handle, SIGKILL, nullptr, 0);
    ::_exit(0);
  } catch (...) {  // no memory: the launcher is left to itself
  }
}

}  // namespace convoy
