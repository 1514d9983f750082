/// Tells all ranks where the others listen, while MPI still works.
#include "watchdog/watchdog_session.h"

#include <chrono>
#include <cstdlib>
#include <exception>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "convoy/base/host_name.h"
#include "convoy/base/log.h"
#include "convoy/base/progress.h"
#include "convoy/comm/gather.h"
#include "convoy/comm/topology.h"
#include "convoy/params/run_parameters.h"

#include "watchdog/addresses.h"
#include "watchdog/process.h"

namespace convoy {

namespace {

constexpr std::chrono::seconds kConnectPatience{60};

// Returns the host and process of every rank, on all ranks.
std::vector<RankReport> who_is_where(const mpi::Communicator& world) {
  const std::vector<std::string> hosts = mpi::share_texts(world, host_name());
  const std::vector<std::string> spaces = mpi::share_texts(world, process_space());
  const std::vector<std::string> processes = mpi::share_texts(world, std::to_string(getpid()));
  std::vector<RankReport> reports;
  for (std::size_t rank = 0; rank < hosts.size(); ++rank)
    reports.push_back({.rank = static_cast<int>(rank),
                       .host = hosts[rank],
                       .process_space = spaces[rank],
                       .process = std::atoll(processes[rank].c_str())});
  return reports;
}

Secret draw_secret() {
  std::random_device device;
  const auto draw = [&] { return (std::uint64_t{device()} << 32) | device(); };
  return {draw(), draw()};
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::istringstream stream(text);
  std::vector<std::string> parts;
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

// The list of each rank, on all of them.
std::vector<std::vector<std::string>> share_lists(const std::vector<std::string>& mine,
                                                  const mpi::Communicator& world) {
  std::vector<std::vector<std::string>> of_ranks;
  for (const std::string& texts : mpi::share_texts(world, fmt::format("{}", fmt::join(mine, ","))))
    of_ranks.push_back(split(texts, ','));
  return of_ranks;
}

// The addresses of this host that the others can connect to.
std::vector<std::string> find_hosts(const mpi::Communicator& world) {
  const std::vector<std::vector<std::string>> of_ranks = share_lists(own_addresses(), world);
  if (world.size() == 1) return {};
  if (find_topology(world).num_nodes == 1) return {"127.0.0.1"};
  std::vector<std::string> all;
  for (const std::vector<std::string>& addresses : of_ranks) all.insert(all.end(), addresses.begin(), addresses.end());
  std::vector<std::string> hosts = addresses_towards(all);
  if (!hosts.empty()) return hosts;
  hosts = own_addresses();  // nodes that share an address, as containers on one host do
  hosts.push_back("127.0.0.1");
  return hosts;
}

// The job does not end before its launcher does.
[[noreturn]] void leave(int status) {
  end_launcher_after(std::chrono::seconds(5));
  _exit(status);
}

}  // namespace

StartWatchdog::Spec start_spec(const RunParams& params) {
  const double alarm_seconds = params.watchdog_seconds > 0 ? params.watchdog_seconds : kMinAlarmSeconds;
  return {.alarm_seconds = kMorePatience * alarm_seconds,
          .abort_seconds = params.watchdog_abort_seconds,
          .say = [](const std::string& text) { log_warning(text); },
          .leave = leave};
}

WatchdogSession::WatchdogSession(const RunParams& params, mpi::Session& session)
    : parts_(std::make_shared<Parts>()),
      world_(session.world().with(parts_->board)),
      num_exceptions_(std::uncaught_exceptions()) {
  session.keep_until_end(parts_);
  set_progress_listener([this] { board().go_on(); });
  const mpi::Communicator& world = session.world();
  const std::int64_t rank = world.rank();
  WatchdogSpec spec{.alarm_seconds = params.watchdog_seconds,
                    .abort_seconds = params.watchdog_abort_seconds,
                    .ranks = who_is_where(world),
                    .rank = rank,
                    .say = [](const std::string& text) { log_warning(text); },
                    .leave = leave};
  Secret secret = rank == 0 ? draw_secret() : Secret{};
  world.broadcast(&secret, sizeof secret, 0);
  auto links = std::make_unique<ControlLinks>(rank, world.size(), secret, find_hosts(world));
  links->set_addresses(share_lists(links->addresses(), world));
  std::unique_ptr<Watchdog>& watchdog = parts_->watchdog;
  if (rank == 0) {  // its thread lets the others in
    watchdog = std::make_unique<Watchdog>(std::move(spec), parts_->board, std::move(links));
    if (world.max(0) == 0) {
      watchdog->begin();
    } else {
      watchdog.reset();
      log_warning(
          "not every rank could open a TCP connection to rank 0: a rank that makes no progress will not be named, and "
          "the job will wait for it. Check whether a firewall blocks connections between the nodes");
    }
  } else {
    const Packet hello{.kind = Packet::Kind::kHello, .rank = static_cast<std::int32_t>(rank)};
    if (world.max(links->connect(0, hello, kConnectPatience) ? 0 : 1) == 0)
      watchdog = std::make_unique<Watchdog>(std::move(spec), parts_->board, std::move(links));
  }
}

WatchdogSession::~WatchdogSession() {
  set_progress_listener({});
  const bool has_failed = std::uncaught_exceptions() > num_exceptions_;
  if (has_failed) {
    parts_->watchdog.reset();
  } else {
    parts_->board.enter(Activity::kEnding);
    parts_->board.wait_for(Wait::kRanks);
  }
}

}  // namespace convoy
