/// What the launcher wrote into the environments of its processes tells which of this host belong to the job.
#include "watchdog/start_watchdog.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/core.h>
#include <unistd.h>

#include "convoy/base/host_name.h"
#include "convoy/base/text.h"
#include "convoy/base/wording.h"
#include "convoy/comm/launch.h"

#include "watchdog/process.h"

namespace convoy {

namespace {

namespace fs = std::filesystem;

// The value of a variable in /proc/PID/environ, which has "NAME=VALUE" entries, each with a zero at its end.
std::optional<std::string> find_variable(std::string_view environment, std::string_view name) {
  while (!environment.empty()) {
    const std::string_view line = environment.substr(0, environment.find('\0'));
    if (line.starts_with(name) && line.size() > name.size() && line[name.size()] == '=')
      return std::string(line.substr(name.size() + 1));
    environment.remove_prefix(std::min(line.size() + 1, environment.size()));
  }
  return std::nullopt;
}

// The same for all processes that were started together, and for no others on this host.
std::string job_of(const Environment& environment) {
  if (const auto name = environment("PMIX_NAMESPACE")) return *name;
  const auto job = environment("SLURM_JOB_ID"), step = environment("SLURM_STEP_ID");
  return job && step ? *job + "." + *step : "";
}

struct Process {
  std::string job;
  std::string program;
  std::int64_t rank = 0;
};

// Nothing where it is another user's, or has ended meanwhile.
std::optional<Process> find_process(const std::string& folder) {
  std::error_code unknown;
  const fs::path program = fs::read_symlink(folder + "/exe", unknown);
  std::ifstream file(folder + "/environ");
  if (unknown || !file) return std::nullopt;
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const Environment environment = [&](const char* name) { return find_variable(text, name); };
  return Process{.job = job_of(environment), .program = program.string(), .rank = find_launch(environment).rank};
}

std::string describe_start(const std::vector<RankReport>& ranks) {
  if (ranks.empty()) return "";
  std::string text;
  for (const RankReport& rank : ranks)
    if (rank.reach != Reach::kSilent)
      text +=
          fmt::format("\n  rank {} (process {} on {}) {}", rank.rank, rank.process, rank.host, describe(rank.reach));
  return text.empty()
             ? fmt::format(
                   "; {} of the job on {} must be waiting for MPI, for other hosts, or for processes that have ended",
                   counted(std::ssize(ranks), "process"), host_name())
             : ":" + text;
}

// Returns the ranks of this job whose processes are on this host, in the order of ranks: processes with the same
// program and the same job of the launcher. RankReport::reach is their state as Linux sees it; kSilent: the process
// runs.
std::vector<RankReport> find_ranks_here() {
  std::vector<RankReport> ranks;
  const auto own = find_process("/proc/self");
  if (!own || own->job.empty()) return ranks;
  std::error_code unknown;
  for (fs::directory_iterator entry("/proc", unknown), end; entry != end; entry.increment(unknown)) {
    const auto number = parse_number<std::int64_t>(entry->path().filename().string());
    const auto process = number ? find_process(entry->path().string()) : std::nullopt;
    if (!process || process->job != own->job || process->program != own->program) continue;
    ranks.push_back({.rank = static_cast<int>(process->rank),
                     .host = host_name(),
                     .process = *number,
                     .reach = state_of_process(*number)});
  }
  std::ranges::sort(ranks, {}, &RankReport::rank);
  return ranks;
}

// A process whose memory does not answer (its pages are on a file system that hangs) can hold up the thread that reads
// its environment. None is found then.
std::vector<RankReport> find_ranks_within(std::chrono::seconds patience) {
  auto found = std::make_shared<std::promise<std::vector<RankReport>>>();
  std::future<std::vector<RankReport>> ranks = found->get_future();
  std::thread([found] {
    block_signals();
    found->set_value(find_ranks_here());
  }).detach();
  if (ranks.wait_for(patience) != std::future_status::ready) return {};
  return ranks.get();
}

}  // namespace

StartWatchdog::StartWatchdog(Spec spec) : spec_(std::move(spec)), speaker_(spec_.say), thread_([this] { run(); }) {}

void StartWatchdog::end() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

bool StartWatchdog::ends_within(double seconds) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::duration<double>(seconds), [this] { return ends_; });
}

void StartWatchdog::run() {
  block_signals();
  if (ends_within(spec_.alarm_seconds)) return;
  const std::vector<RankReport> ranks = find_ranks_within(std::chrono::seconds(5));
  const auto first = std::ranges::find(ranks, Reach::kSilent, &RankReport::reach);
  const bool speaks = ranks.empty() ? find_launch().rank == 0 : first != ranks.end() && first->process == getpid();
  if (speaks)
    speaker_.say(fmt::format("the job has not started after {:.0f} s{}", spec_.alarm_seconds, describe_start(ranks)));
  if (spec_.abort_seconds == 0 || ends_within(spec_.abort_seconds)) return;
  if (speaks)
    speaker_.say(fmt::format("the run ends here: it has not started after {:.0f} s (run.watchdog_abort_seconds)",
                             spec_.alarm_seconds + spec_.abort_seconds));
  speaker_.finish();
  spec_.leave(1);
}

}  // namespace convoy
