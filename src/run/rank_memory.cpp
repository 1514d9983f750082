/// Collects limits and needs of all ranks on rank 0, as text.
#include "run/rank_memory.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <utility>

#include <fmt/core.h>

#include "convoy/base/host_name.h"
#include "convoy/base/text.h"
#include "convoy/base/wording.h"
#include "convoy/comm/gather.h"

#include "run/memory_report.h"

namespace convoy {

namespace {

constexpr char kFieldEnd = '\t', kLineEnd = '\n';

void append(const char* kind, const std::vector<MemoryLimit>& limits, std::string& text) {
  for (const MemoryLimit& limit : limits)
    text += fmt::format("{}{}{}{}{}{}{}{}", kind, kFieldEnd, limit.bytes, kFieldEnd, limit.pool, kFieldEnd, limit.what,
                        kLineEnd);
}

// Returns a rank's memory as text, which decode() reads on rank 0.
std::string encode(const RankMemory& rank) {
  std::string text =
      fmt::format("{} {} {} {} {}{}", rank.resident, rank.available, rank.threads, rank.scratch, rank.host, kLineEnd);
  for (const ProcessLimit& limit : rank.of_process)
    append("process", {{limit.option, std::to_string(limit.taken), limit.bytes}}, text);
  append("host", rank.limits, text);
  append("device", rank.of_device, text);
  return text;
}

RankMemory decode(const std::string& text) {
  RankMemory rank;
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);
  std::istringstream(line) >> rank.resident >> rank.available >> rank.threads >> rank.scratch >> rank.host;
  while (std::getline(lines, line)) {
    std::istringstream fields(line);
    std::string kind, bytes;
    MemoryLimit limit;
    std::getline(fields, kind, kFieldEnd), std::getline(fields, bytes, kFieldEnd);
    std::getline(fields, limit.pool, kFieldEnd), std::getline(fields, limit.what);
    limit.bytes = std::atoll(bytes.c_str());
    if (kind == "process") {
      rank.of_process.push_back({.option = limit.pool, .bytes = limit.bytes, .taken = std::atoll(limit.what.c_str())});
    } else {
      (kind == "host" ? rank.limits : rank.of_device).push_back(limit);
    }
  }
  return rank;
}

struct Need {
  std::int64_t bytes = 0, resident = 0, available = 0;
};

void add(const std::vector<MemoryLimit>& limits, const Need& need, const std::string& host,
         std::map<std::string, MemoryPool>& pools) {
  for (const MemoryLimit& limit : limits) {
    MemoryPool& pool =
        pools.try_emplace(limit.pool, MemoryPool{.limit = limit, .host = host, .available = need.available})
            .first->second;
    pool.limit.bytes = std::min(pool.limit.bytes, limit.bytes);
    pool.needed += need.bytes;
    pool.resident += need.resident;
    ++pool.num_ranks;
  }
}

}  // namespace

RankMemory own_memory(std::int64_t threads, ops::Backend* backend) {
  constexpr std::int64_t kOtherThreads = 4;  // threads of MPI, the loader, the watchdog and the writer of checkpoints
  const std::string host = host_name();
  RankMemory mine{.host = host,
                  .limits = find_memory_limits(host),
                  .of_process = find_process_limits(),
                  .threads = threads + kOtherThreads,
                  .resident = resident().now,
                  .available = available_memory()};
  for (MemoryLimit& limit : slurm_memory_limits(host, std::getenv("SLURM_MEM_PER_NODE"),
                                                std::getenv("SLURM_MEM_PER_CPU"), std::getenv("SLURM_CPUS_ON_NODE")))
    mine.limits.push_back(std::move(limit));
  if (backend != nullptr && backend->device().memory_bytes() > 0)
    mine.of_device.push_back({backend->device().hardware_id(), "memory of its GPU", backend->device().memory_bytes()});
  return mine;
}

std::vector<RankMemory> gather_memory(const RankMemory& mine, const mpi::Communicator& world) {
  std::vector<RankMemory> ranks;
  for (const std::string& text : mpi::gather_texts(world, encode(mine))) ranks.push_back(decode(text));
  return ranks;
}

void predict_needs(const StepPlan& plan, CheckpointUse use, std::vector<RankMemory>& ranks) {
  for (std::int64_t rank = 0; rank < std::ssize(ranks); ++rank) {
    RankMemory& memory = ranks[rank];
    const std::int64_t stage = rank % plan.grid().stages;
    const std::int64_t of_stage = plan.memory_of(stage).total() + memory.scratch;
    const bool on_gpu = !memory.of_device.empty();
    const HostMemory host = host_memory(plan, stage, rank == 0, use == CheckpointUse::kResumes);
    const std::int64_t beside = use == CheckpointUse::kNone ? host.samples : host.total();
    memory.host_bytes = memory.resident + beside + (on_gpu ? 0 : of_stage);
    memory.device_bytes = on_gpu ? of_stage : 0;
  }
}

std::map<std::string, MemoryPool> memory_pools(const std::vector<RankMemory>& ranks) {
  std::map<std::string, MemoryPool> pools;
  for (const RankMemory& rank : ranks) {
    add(rank.limits, {.bytes = rank.host_bytes, .resident = rank.resident, .available = rank.available}, rank.host,
        pools);
    add(rank.of_device, {.bytes = rank.device_bytes}, rank.host, pools);
  }
  return pools;
}

std::string describe(const MemoryPool& pool) {
  return fmt::format("{}: {} need{} {} of {} ({})", pool.host, counted(pool.num_ranks, "rank"),
                     pool.num_ranks == 1 ? "s" : "", human_bytes(pool.needed), human_bytes(pool.limit.bytes),
                     pool.limit.what);
}

}  // namespace convoy
