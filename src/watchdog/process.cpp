/// Processes are read from /proc. A child of this process, with nothing open, waits for the launcher's end; after
/// fork() it calls only what is safe there, as other threads may have held locks.
#include "watchdog/process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "convoy/base/file_descriptor.h"
#include "convoy/base/host_name.h"

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

Reach state_of_process(std::int64_t process) {
  std::array<char, 256> text;  // the state is the third field, after a number and a name of at most 15 bytes
  const FileDescriptor file(::open(fmt::format("/proc/{}/stat", process).c_str(), O_RDONLY | O_CLOEXEC));
  const ssize_t size = file.is_open() ? ::read(file.get(), text.data(), text.size()) : -1;
  if (size < 0) return errno == ENOENT || errno == ESRCH ? Reach::kEnded : Reach::kSilent;
  const std::string_view stat(text.data(), static_cast<std::size_t>(size));
  const std::size_t end_of_name = stat.rfind(')');  // a name may hold anything
  const char state = end_of_name + 2 < stat.size() ? stat[end_of_name + 2] : '?';
  if (state == 'T') return Reach::kStopped;
  if (state == 't') return Reach::kTraced;
  return state == 'Z' || state == 'X' ? Reach::kEnded : Reach::kSilent;
}

std::string process_space() {
  std::string boot;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
  std::error_code unknown;
  const std::string container = std::filesystem::read_symlink("/proc/self/ns/pid", unknown).string();
  return fmt::format("{} {} {}", host_name(), boot, container);
}

void block_signals() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

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
