/// How many calls a step makes on a rank of a large job: of CUDA, of NCCL and of MPI. One process runs the rank's real
/// code; the libraries are stand-ins that count, carry nothing, and answer as if all other ranks did the same.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace convoy::counting {

struct Traffic {
  std::int64_t messages = 0, bytes = 0;
};

struct Calls {
  std::int64_t launches = 0;  ///< kernels and copies, those inside graphs too
  std::int64_t cuda = 0;      ///< calls that put work, events or graphs on streams, or ask for them
  std::int64_t nccl = 0;
  std::int64_t reduce_scatters = 0;  ///< of those of NCCL
  std::int64_t mpi = 0;
  std::map<int, Traffic> sent;  ///< by NCCL; by the receiver's rank in its communicator

  std::int64_t api_calls() const { return cuda + nccl + mpi; }
};

/// Since the last reset.
Calls& calls();

/// The job in which this process acts as rank 0.
struct SimulatedJob {
  int ranks = 1;
  int ranks_a_node = 1;
  /// Of each MPI_Comm_split, in the order of the calls: the ranks of MPI_COMM_WORLD in the group that rank 0 gets.
  std::vector<std::vector<int>> groups;
};

/// From here on. No communicator of the job before is used any more.
void simulate(SimulatedJob job);

}  // namespace convoy::counting
