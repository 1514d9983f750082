/// Whether all ranks run the same program on machines of one kind, with cores for their threads and clocks that agree.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "convoy/comm/topology.h"
#include "convoy/ops/backend.h"
#include "convoy/params/parameters.h"

#include "preflight/report.h"

namespace convoy::preflight {

/// The processor of a text as /proc/cpuinfo has it, with the widest instructions that matter to Convoy:
/// "AMD EPYC 9454: avx2 avx512f avx512_bf16".
std::string processor_kind(const std::string& cpuinfo);

/// "Open MPI v4.1.4; HDF5 1.10.8; oneDNN 2.6.3": those that run; NCCL only where GPUs compute.
std::string library_versions(bool computes_on_host);

/// Of a node's ranks, each with so many threads.
Finding judge_threads(const NodeLoad& node, std::int64_t threads_per_rank);

/// A host's clock against that of rank 0's host.
struct ClockOffset {
  double offset_seconds = 0, error_seconds = 0;
};
/// By rank; an infinite error for ranks whose host was asked by another.
Finding judge_clocks(const std::vector<ClockOffset>& offsets, const std::vector<std::string>& hosts);

/// Versions of program and libraries, and processors. All ranks.
void check_programs(bool computes_on_host, Report& report);

/// The device's operations of this rank; null on all ranks where a rank cannot have them. All ranks.
std::unique_ptr<ops::Backend> check_device(const Parameters& params, Report& report);

/// Threads against cores. `is_warned_of`: more threads than processors of a rank were warned of. All ranks.
void check_threads(std::int64_t threads_per_rank, bool computes_on_host, bool is_warned_of, Report& report);

/// One rank of each host asks rank 0. All ranks.
void check_clocks(Report& report);

}  // namespace convoy::preflight
