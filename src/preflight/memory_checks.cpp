/// See memory_checks.h.
#include "preflight/memory_checks.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <sstream>
#include <utility>

#include <fmt/core.h>

#include "convoy/base/host_name.h"
#include "convoy/base/text.h"
#include "convoy/base/wording.h"

#include "run/memory_report.h"

namespace convoy::preflight {

namespace {

constexpr double kNearlyFull = 0.9;  // the rest is for what is not predicted: pages of the data, buffers of MPI

struct Pool {
  MemoryLimit limit;
  std::string host;
  std::int64_t needed = 0, resident = 0, num_ranks = 0;

  double share() const { return static_cast<double>(needed) / static_cast<double>(limit.bytes); }
};

void add(const std::vector<MemoryLimit>& limits, std::int64_t needed, std::int64_t resident, const std::string& host,
         std::map<std::string, Pool>& pools) {
  for (const MemoryLimit& limit : limits) {
    Pool& pool = pools.try_emplace(limit.pool, Pool{.limit = limit, .host = host}).first->second;
    pool.limit.bytes = std::min(pool.limit.bytes, limit.bytes);
    pool.needed += needed;
    pool.resident += resident;
    ++pool.num_ranks;
  }
}

std::string describe(const Pool& pool) {
  return fmt::format("{}: {} need{} {} of {} ({})", pool.host, counted(pool.num_ranks, "rank"),
                     pool.num_ranks == 1 ? "s" : "", human_bytes(pool.needed), human_bytes(pool.limit.bytes),
                     pool.limit.what);
}

// Describes a host on which other processes hold memory that its ranks will need; empty if no such host exists.
std::string find_crowded_host(const std::vector<RankMemory>& ranks, const std::vector<std::string>& hosts) {
  std::map<std::string, std::int64_t> more;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank)
    more[hosts[rank]] += std::max<std::int64_t>(0, ranks[rank].host_bytes - ranks[rank].resident);
  for (std::size_t rank = 0; rank < ranks.size(); ++rank)
    if (ranks[rank].available > 0 && more[hosts[rank]] > ranks[rank].available)
      return fmt::format("{}: its ranks will take {} more, but only {} are available: other processes use the rest",
                         hosts[rank], human_bytes(more[hosts[rank]]), human_bytes(ranks[rank].available));
  return "";
}

constexpr char kFieldEnd = '\t', kLineEnd = '\n';

void append(const char* kind, const std::vector<MemoryLimit>& limits, std::string& text) {
  for (const MemoryLimit& limit : limits)
    text += fmt::format("{}{}{}{}{}{}{}{}", kind, kFieldEnd, limit.bytes, kFieldEnd, limit.pool, kFieldEnd, limit.what,
                        kLineEnd);
}

// Returns a rank's memory as text, which decode() reads on rank 0.
std::string encode(const RankMemory& rank) {
  std::string text = fmt::format("{} {} {}{}", rank.resident, rank.available, rank.threads, kLineEnd);
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
  std::istringstream(line) >> rank.resident >> rank.available >> rank.threads;
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

RankMemory own_memory(std::int64_t threads, ops::Backend* backend) {
  constexpr std::int64_t kOtherThreads = 4;  // threads of MPI, the loader, the watchdog and the writer of checkpoints
  const std::string host = host_name();
  RankMemory mine{.limits = find_memory_limits(host),
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

// Sets the memory that the rank will need, including what the program holds already.
void predict(const StepPlan& plan, std::int64_t rank, bool resumes, RankMemory& memory) {
  const std::int64_t stage = rank % plan.grid().stages;
  const std::int64_t of_stage = plan.memory_of(stage).total();
  const std::int64_t beside = host_memory(plan, stage, rank == 0, resumes).total();
  const bool on_gpu = !memory.of_device.empty();
  memory.host_bytes = memory.resident + beside + (on_gpu ? 0 : of_stage);
  memory.device_bytes = on_gpu ? of_stage : 0;
}

// Describes the first limit that is too small for what a process will map: what it has mapped, what it will use in
// addition and, if `with_reserves`, what its threads may reserve. Returns "" if all limits suffice.
std::string find_small_limit(const std::vector<RankMemory>& ranks, const std::vector<std::string>& hosts,
                             bool with_reserves) {
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    for (const ProcessLimit& limit : ranks[rank].of_process) {
      const std::int64_t more = std::max<std::int64_t>(0, ranks[rank].host_bytes - ranks[rank].resident);
      const std::int64_t needed = limit.taken + more + (with_reserves ? ranks[rank].threads * thread_reserve() : 0);
      if (needed > limit.bytes)
        return fmt::format(
            "rank {} on {}: {} is {}, and the process will map {}{}. Raise it: {} unlimited, or the batch system's "
            "option for virtual memory",
            rank, hosts[rank], limit.option, human_bytes(limit.bytes), human_bytes(needed),
            with_reserves ? fmt::format(" with the reserves of {} threads", ranks[rank].threads) : "", limit.option);
    }
  }
  return "";
}

}  // namespace

Finding judge_memory(const std::vector<RankMemory>& ranks, const std::vector<std::string>& hosts) {
  std::map<std::string, Pool> pools;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    add(ranks[rank].limits, ranks[rank].host_bytes, ranks[rank].resident, hosts[rank], pools);
    add(ranks[rank].of_device, ranks[rank].device_bytes, 0, hosts[rank], pools);
  }
  if (const std::string small = find_small_limit(ranks, hosts, false); !small.empty()) return fails(small);
  if (pools.empty()) return not_checked("the system does not say how much memory there is");
  const Pool* tightest = nullptr;
  std::int64_t num_over = 0;
  for (const auto& [name, pool] : pools) {
    if (tightest == nullptr || pool.share() > tightest->share()) tightest = &pool;
    if (pool.share() > 1) ++num_over;
  }
  const std::string others = num_over < 2 ? "" : fmt::format("; {} limits are exceeded in all", num_over);
  constexpr const char* kRemedy = "Use more nodes or grid.stages, a smaller batch.micro, or memory.recompute = cell";
  if (tightest->share() > 1) return fails(fmt::format("{}{}. {}", describe(*tightest), others, kRemedy));
  if (tightest->share() > kNearlyFull) return warning(fmt::format("{}: nearly all. {}", describe(*tightest), kRemedy));
  if (const std::string small = find_small_limit(ranks, hosts, true); !small.empty()) return warning(small);
  if (const std::string crowded = find_crowded_host(ranks, hosts); !crowded.empty()) return warning(crowded);
  return ok(fmt::format("the tightest is {}", describe(*tightest)));
}

void check_memory(const RunPlan* plan, bool resumes, std::int64_t threads, ops::Backend* backend, Report& report) {
  const std::vector<std::string> texts = report.gather(encode(own_memory(threads, backend)));
  if (!report.is_root()) return;
  if (plan == nullptr) return report.add("memory", not_checked("there is no plan"));
  std::vector<RankMemory> ranks;
  for (const std::string& text : texts) {
    ranks.push_back(decode(text));
    predict(plan->step, std::ssize(ranks) - 1, resumes, ranks.back());
  }
  report.add("memory", judge_memory(ranks, report.hosts()));
}

}  // namespace convoy::preflight
