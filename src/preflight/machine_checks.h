/// Checks whether all ranks run the same program on machines of one kind, with cores for their threads and with clocks
/// that agree.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "convoy/comm/topology.h"
#include "convoy/ops/backend.h"

#include "preflight/report.h"

namespace convoy {
struct Parameters;
}

namespace convoy::preflight {

/// Returns the processor of a text in the format of /proc/cpuinfo, with the widest instructions that matter to Convoy:
/// "AMD EPYC 9454: avx2 avx512f avx512_bf16".
std::string processor_kind(const std::string& cpuinfo);

/// Returns the versions of the loaded libraries, with NCCL only if GPUs compute: "Open MPI v4.1.4; HDF5 1.10.8; oneDNN
/// 2.6.3".
std::string library_versions(bool computes_on_host);

/// Warns if a node's ranks, each with that many threads, do not all have cores for their threads.
Finding judge_threads(const NodeLoad& node, std::int64_t threads_per_rank);

/// A host's clock against that of rank 0's host.
struct ClockOffset {
  double offset_seconds = 0, error_seconds = 0;
};
/// Warns if a host's clock differs from that of rank 0's host by more than 1 s. `offsets` and `hosts` are by rank; an
/// infinite error marks ranks whose host was measured by another rank.
Finding judge_clocks(const std::vector<ClockOffset>& offsets, const std::vector<std::string>& hosts);

/// Reports the program's and libraries' versions and the processors, and whether they differ. All ranks call it.
void check_programs(bool computes_on_host, Report& report);

/// Returns the operations of this rank's device; null on all ranks if one rank cannot create them, or if only some
/// ranks compute on the host. All ranks call it.
std::unique_ptr<ops::Backend> check_device(const Parameters& params, Report& report);

/// Reports whether the ranks have cores for their threads. `is_warned_of`, on rank 0: a warning that a rank has more
/// threads than processors is reported elsewhere. All ranks call it.
void check_threads(std::int64_t threads_per_rank, bool computes_on_host, bool is_warned_of, Report& report);

/// Reports the differences of the hosts' clocks; one rank of each host compares its clock with that of rank 0. All
/// ranks call it.
void check_clocks(Report& report);

}  // namespace convoy::preflight
