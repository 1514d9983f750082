/// Tells all ranks where rank 0 listens, while MPI still works.
#include "watch/watch.h"

#include <algorithm>
#include <chrono>
#include <random>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "convoy/base/log.h"
#include "convoy/comm/topology.h"

#include "watch/launcher.h"
#include "watch/own_addresses.h"

namespace convoy {

namespace {

constexpr std::chrono::seconds kConnectPatience{60};

struct Identity {
  char host[256] = {};
  std::int64_t process = 0;
};

// Of all ranks, on all of them.
std::vector<RankReport> who_is_where(const mpi::Communicator& world) {
  Identity mine{.process = getpid()};
  gethostname(mine.host, sizeof mine.host - 1);
  std::vector<Identity> all(static_cast<std::size_t>(world.size()));
  std::vector<std::byte> bytes = world.broadcast(world.gather(std::as_bytes(std::span(&mine, 1)), 0), 0);
  std::copy(bytes.begin(), bytes.end(), std::as_writable_bytes(std::span(all)).begin());
  std::vector<RankReport> reports;
  for (const Identity& rank : all)
    reports.push_back({.rank = static_cast<int>(reports.size()), .host = rank.host, .process = rank.process});
  return reports;
}

Secret draw_secret() {
  std::random_device device;
  const auto draw = [&] { return (std::uint64_t{device()} << 32) | device(); };
  return {draw(), draw()};
}

// On all ranks.
bool all(bool here, const mpi::Communicator& world) {
  const std::int64_t missing = here ? 0 : 1;
  std::int64_t any = 0;
  world.start_max(&missing, &any).wait();
  return any == 0;
}

std::string join_lines(const std::vector<std::string>& lines) {
  return fmt::format("{}", fmt::join(lines, "\n"));
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// Where the others can connect to. On rank 0.
std::vector<std::string> find_hosts(const mpi::Communicator& world) {
  const std::string mine = world.rank() == 0 ? "" : join_lines(own_addresses()) + "\n";
  const std::vector<std::byte> all = world.gather(std::as_bytes(std::span(mine)), 0);
  const bool is_alone = world.size() == 1;
  if (find_topology(world).num_nodes == 1)
    return is_alone ? std::vector<std::string>() : std::vector<std::string>{"127.0.0.1"};
  const std::vector<std::string> others = lines_of({reinterpret_cast<const char*>(all.data()), all.size()});
  return addresses_towards(others);
}

// The job does not end before its launcher does.
[[noreturn]] void leave(int status) {
  end_launcher_after(std::chrono::seconds(5));
  _exit(status);
}

}  // namespace

Watch::Watch(const RunParams& params, const mpi::Communicator& world) : world_(world.with(board_)) {
  const bool is_root = world.rank() == 0;
  WatchSpec spec{.alarm_seconds = params.watchdog_seconds,
                 .abort_seconds = params.watchdog_abort_seconds,
                 .ranks = who_is_where(world),
                 .rank = world.rank(),
                 .say = [](const std::string& text) { log_warning(text); },
                 .leave = leave};
  Secret secret = is_root ? draw_secret() : Secret{};
  world.broadcast(&secret, sizeof secret, 0);
  const std::vector<std::string> hosts = find_hosts(world);
  auto link = is_root ? std::make_unique<RootLink>(world.size(), secret, hosts) : nullptr;
  const std::string addresses = world.broadcast(link ? join_lines(link->addresses()) : "", 0);
  if (is_root) {  // its thread lets the others in
    watchdog_ = std::make_unique<Watchdog>(std::move(spec), board_, std::move(link));
    if (all(true, world)) {
      watchdog_->begin();
      return;
    }
    watchdog_.reset();
    log_warning(
        "not every rank could open a TCP connection to rank 0: a rank that stands still will not be named, and the job "
        "will wait for it. Is there a firewall between the nodes?");
  } else {
    auto rank_link = std::make_unique<RankLink>(world.rank(), secret, lines_of(addresses));
    const Packet hello{.kind = Packet::Kind::kHello, .rank = static_cast<std::int32_t>(world.rank())};
    if (all(rank_link->connect(hello, kConnectPatience), world))
      watchdog_ = std::make_unique<Watchdog>(std::move(spec), board_, std::move(rank_link));
  }
}

}  // namespace convoy
