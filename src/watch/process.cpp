/// Read from /proc.
#include "watch/process.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include "convoy/base/file_descriptor.h"
#include "convoy/base/host_name.h"

namespace convoy {

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

}  // namespace convoy
