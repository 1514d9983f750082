/// See memory_checks.h.
#include "preflight/memory_checks.h"

#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "convoy/base/text.h"

namespace convoy::preflight {

namespace {

constexpr double kNearlyFull = 0.9;  // the rest is for what is not predicted: pages of the data, buffers of MPI

// Describes a host on which other processes hold memory that its ranks will need; empty if no such host exists.
std::string find_crowded_host(const std::vector<RankMemory>& ranks) {
  std::map<std::string, std::int64_t> more;
  for (const RankMemory& rank : ranks) more[rank.host] += std::max<std::int64_t>(0, rank.host_bytes - rank.resident);
  for (const RankMemory& rank : ranks)
    if (rank.available > 0 && more[rank.host] > rank.available)
      return fmt::format("{}: its ranks will take {} more, but only {} are available: other processes use the rest",
                         rank.host, human_bytes(more[rank.host]), human_bytes(rank.available));
  return "";
}

// Describes the first limit that is too small for what a process will map: what it has mapped, what it will use in
// addition and, if `with_reserves`, what its threads may reserve. Returns "" if all limits suffice.
std::string find_small_limit(const std::vector<RankMemory>& ranks, bool with_reserves) {
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    for (const ProcessLimit& limit : ranks[rank].of_process) {
      const std::int64_t more = std::max<std::int64_t>(0, ranks[rank].host_bytes - ranks[rank].resident);
      const std::int64_t needed = limit.taken + more + (with_reserves ? ranks[rank].threads * thread_reserve() : 0);
      if (needed > limit.bytes)
        return fmt::format(
            "rank {} on {}: {} is {}, and the process will map {}{}. Raise it: {} unlimited, or the batch system's "
            "option for virtual memory",
            rank, ranks[rank].host, limit.option, human_bytes(limit.bytes), human_bytes(needed),
            with_reserves ? fmt::format(" with the reserves of {} threads", ranks[rank].threads) : "", limit.option);
    }
  }
  return "";
}

}  // namespace

Finding judge_memory(const std::vector<RankMemory>& ranks) {
  if (const std::string small = find_small_limit(ranks, false); !small.empty()) return fails(small);
  const std::map<std::string, MemoryPool> pools = memory_pools(ranks);
  if (pools.empty()) return not_checked("the system does not say how much memory there is");
  const MemoryPool* tightest = nullptr;
  std::int64_t num_over = 0;
  for (const auto& [name, pool] : pools) {
    if (tightest == nullptr || pool.share() > tightest->share()) tightest = &pool;
    if (pool.share() > 1) ++num_over;
  }
  const std::string others = num_over < 2 ? "" : fmt::format("; {} limits are exceeded in all", num_over);
  constexpr const char* kRemedy = "Use more nodes or grid.stages, a smaller batch.micro, or memory.recompute = cell";
  if (tightest->share() > 1) return fails(fmt::format("{}{}. {}", describe(*tightest), others, kRemedy));
  if (tightest->share() > kNearlyFull) return warning(fmt::format("{}: nearly all. {}", describe(*tightest), kRemedy));
  if (const std::string small = find_small_limit(ranks, true); !small.empty()) return warning(small);
  if (const std::string crowded = find_crowded_host(ranks); !crowded.empty()) return warning(crowded);
  return ok(fmt::format("the tightest is {}", describe(*tightest)));
}

void check_memory(const RunPlan* plan, bool resumes, std::int64_t threads, ops::Backend* backend, Report& report) {
  std::vector<RankMemory> ranks = gather_memory(own_memory(threads, backend), report.world());
  if (!report.is_root()) return;
  if (plan == nullptr) return report.add("memory", not_checked("there is no plan"));
  predict_needs(plan->step, resumes ? CheckpointUse::kResumes : CheckpointUse::kSaves, ranks);
  report.add("memory", judge_memory(ranks));
}

}  // namespace convoy::preflight
