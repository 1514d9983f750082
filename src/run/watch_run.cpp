/// Tells all ranks where rank 0 listens, while MPI still works.
#include "run/watch_run.h"

#include <cstring>
#include <random>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include <unistd.h>

#include "convoy/base/log.h"

namespace convoy {

namespace {

using HostName = char[sizeof(Packet::host)];

// Of all ranks, on all of them.
std::vector<std::string> host_names(const mpi::Communicator& world) {
  HostName mine = {};
  gethostname(mine, sizeof mine - 1);
  const std::vector<std::byte> all = world.broadcast(world.gather(std::as_bytes(std::span(mine)), 0), 0);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < all.size(); i += sizeof mine) names.emplace_back(reinterpret_cast<const char*>(&all[i]));
  return names;
}

std::uint64_t random_number() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) | device();
}

}  // namespace

std::unique_ptr<Watchdog> watch_run(const Parameters& params, const RankRuntime& runtime) {
  const ProcessGrid& grid = runtime.grid();
  const mpi::Communicator& world = grid.world();
  WatchSpec spec{.alarm_seconds = params.run.watchdog_seconds,
                 .abort_seconds = params.run.watchdog_abort_seconds,
                 .rank = world.rank(),
                 .say = [](const std::string& text) { log_warning(text); },
                 .leave = [](int status) { _exit(status); }};
  // 1. Who is where
  const std::vector<std::string> hosts = host_names(world);
  spec.ranks.resize(static_cast<std::size_t>(world.size()));
  for (std::int64_t r = 0; r < grid.num_replicas(); ++r) {
    for (std::int64_t s = 0; s < grid.num_stages(); ++s) {
      const int rank = grid.world_rank(r, s);
      spec.ranks[static_cast<std::size_t>(rank)] = {
          .rank = rank, .host = hosts[static_cast<std::size_t>(rank)], .replica = r, .stage = s};
    }
  }
  // 2. Where rank 0 listens
  std::uint64_t job = grid.is_root() ? random_number() : 0;
  world.broadcast(&job, sizeof job, 0);
  spec.root_process = getpid();
  world.broadcast(&spec.root_process, sizeof spec.root_process, 0);
  auto link = grid.is_root() ? std::make_unique<RootLink>(world.size(), job) : nullptr;
  std::string addresses;
  if (link)
    for (const std::string& address : link->addresses()) addresses += address + '\n';
  addresses = world.broadcast(addresses, 0);
  // 3. One thread each
  if (link) return std::make_unique<Watchdog>(std::move(spec), runtime.board(), std::move(link));
  std::istringstream lines(addresses);
  std::vector<std::string> list;
  for (std::string line; std::getline(lines, line);) list.push_back(line);
  const Packet hello{.rank = world.rank(), .process = getpid(), .job = job};
  return std::make_unique<Watchdog>(std::move(spec), runtime.board(), connect_to_root(list, hello), job);
}

}  // namespace convoy
