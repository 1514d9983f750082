/// Read from /proc.
#include "watch/process.h"

#include <csignal>
#include <fstream>
#include <sstream>
#include <string>

#include <fmt/format.h>

namespace convoy {

Reach state_of_process(std::int64_t process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  if (!file) return Reach::kEnded;
  std::ostringstream text;
  text << file.rdbuf();
  const std::string stat = text.str();
  const std::size_t end_of_name = stat.rfind(')');  // a name may hold anything
  const char state = end_of_name + 2 < stat.size() ? stat[end_of_name + 2] : '?';
  if (state == 'T') return Reach::kStopped;
  if (state == 't') return Reach::kTraced;
  return state == 'Z' || state == 'X' ? Reach::kEnded : Reach::kSilent;
}

void block_signals() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

}  // namespace convoy
