/// Counts the calls of CUDA, NCCL and MPI in one step on a rank of a large job. One process runs the rank's real code.
/// The libraries are stand-ins: they count, transfer nothing, and answer as if all other ranks did the same.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace convoy::counting {

struct Traffic {
  std::int64_t messages = 0, bytes = 0;
};

struct Calls {
  std::int64_t launches = 0;  ///< number of kernels and copies, including those inside graphs
  std::int64_t cuda = 0;      ///< number of calls that put work, events or graphs on streams, or ask for them
  std::int64_t nccl = 0;
  std::int64_t reduce_scatters = 0;  ///< number of the NCCL calls that are reduce-scatters
  std::int64_t mpi = 0;
  std::int64_t freed_groups = 0;  ///< number of MPI_Comm_free
  std::map<int, Traffic> sent;    ///< traffic of NCCL for each receiver, by its rank in its communicator

  std::int64_t api_calls() const { return cuda + nccl + mpi; }
};

/// The calls since the last reset.
Calls& calls();

/// The job in which this process acts as rank 0.
struct SimulatedJob {
  int ranks = 1;
  int ranks_a_node = 1;
  /// The group that rank 0 gets from each MPI_Comm_split, in the order of the calls, as ranks of MPI_COMM_WORLD.
  std::vector<std::vector<int>> groups;
};

/// Simulates this job from now on. Communicators of an earlier job may not be used any more.
void simulate(SimulatedJob job);

/// MPI_Finalized is true from here until the next job.
void end_mpi();

}  // namespace convoy::counting
