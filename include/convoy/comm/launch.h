/// Finds out how a launcher (mpirun, mpiexec, srun) started this process, from environment variables, before MPI is
/// started.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace convoy {

/// The number of processes that a launcher started together, and the rank of this one, from the launcher's environment
/// variables. If several launchers have set theirs, Open MPI's are taken before PMI's, Slurm's and PMIx's.
struct Launch {
  std::string size_variable;  ///< environment variable that gave `size`: "SLURM_STEP_NUM_TASKS"; empty if none gave it
  std::int64_t size = 1;      ///< number of processes that were started together
  std::int64_t rank = 0;      ///< number of this process among them
  bool is_launched = false;   ///< false: this process was started without a launcher
};
Launch find_launch();

/// A function that returns the value of an environment variable, or nothing if it is not set.
using Environment = std::function<std::optional<std::string>(const char* variable)>;
/// Returns how a process with this environment was started.
Launch find_launch(const Environment& environment);

/// Throws RequestError if the launcher started more processes than MPI has ranks: each process would be a run of its
/// own, and all would use the same run directory. This happens if srun does not support this MPI, or if mpiexec belongs
/// to another MPI.
void check_launch(const Launch& launch, std::int64_t num_ranks);

/// Returns a warning if a batch job has tasks (SLURM_NTASKS) that no launcher has started, with the line of the job
/// script that starts `convoy COMMAND` on all of them; empty otherwise.
std::string describe_unused_tasks(const Launch& launch, const std::string& command);

}  // namespace convoy
