/// Checks whether all ranks run the same program on machines of one kind, with cores for their threads near the memory
/// that they use, and with clocks that agree.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "convoy/comm/placement.h"
#include "convoy/comm/topology.h"
#include "convoy/ops/backend.h"

#include "preflight/report.h"

namespace convoy {
struct Parameters;
}

namespace convoy::preflight {

/// Returns the processor and its widest instruction sets that Convoy uses: "AMD EPYC 9454: avx2 avx512f avx512_bf16".
/// `cpuinfo` is the content of /proc/cpuinfo.
std::string processor_kind(const std::string& cpuinfo);

/// Returns the versions of the loaded libraries: "Open MPI v4.1.4; HDF5 1.10.8; oneDNN 2.6.3". NCCL is included only if
/// `computes_on_host` is false.
std::string library_versions(bool computes_on_host);

/// Warns if a node does not have enough cores for all threads of its ranks.
Finding judge_threads(const NodeLoad& node, std::int64_t threads_per_rank);

/// The difference between the clock of a rank's host and that of rank 0's host, and the largest error of its
/// measurement.
struct ClockOffset {
  double offset_seconds = 0, error_seconds = 0;
};
/// Warns if a host's clock differs from that of rank 0's host by more than 1 s. `offsets` and `hosts` are by rank. An
/// infinite error marks a rank that has not measured, because another rank of its host has.
Finding judge_clocks(const std::vector<ClockOffset>& offsets, const std::vector<std::string>& hosts);

/// Reports the versions of the program and its libraries and the kinds of processors, and whether they differ between
/// ranks. All ranks of the world call it.
void check_programs(bool computes_on_host, Report& report);

/// Returns the backend of this rank's device. Returns null on all ranks if a rank cannot create its backend, or if some
/// ranks compute on a CPU and others on a GPU. All ranks of the world call it.
std::unique_ptr<ops::Backend> check_device(const Parameters& params, Report& report);

/// Reports whether the ranks have cores for their threads. On rank 0, `is_warned_of` says that another check already
/// reports a rank with more threads than processors. All ranks of the world call it.
void check_threads(std::int64_t threads_per_rank, bool computes_on_host, bool is_warned_of, Report& report);

/// Reports how far the clocks of the hosts differ. One rank of each host compares its clock with that of rank 0. All
/// ranks of the world call it.
void check_clocks(Report& report);

/// Where the threads of a rank run, and the number of ranks on its node.
struct RankThreads {
  RankPlace place;
  std::int64_t ranks = 1;    ///< number of ranks on the node
  std::int64_t threads = 1;  ///< number of threads of each rank
};

/// Warns if a rank's threads run in several NUMA domains. `huge_pages` is the result of huge_pages_setting().
Finding judge_placement(const RankThreads& rank, const std::string& huge_pages);

/// Reports where the ranks' threads run. Called after ranks were placed on processors, as train places them. All ranks
/// of the world call it.
void check_placement(std::int64_t threads_per_rank, bool computes_on_host, Report& report);

}  // namespace convoy::preflight
