/// How a launcher (mpirun, mpiexec, srun) started this process, as the environment says it: known before MPI is
/// started.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace convoy {

/// What the innermost launcher says. Slurm's variables are inherited by an mpirun within a job, whose own then hold.
struct Launch {
  std::string size_variable;  ///< "SLURM_STEP_NUM_TASKS": where `size` is written; empty if nothing says a size
  std::int64_t size = 1;      ///< processes that were started together
  std::int64_t rank = 0;      ///< number of this process among them
  bool is_launched = false;   ///< false: a person or a script started this process alone
};
Launch find_launch();

/// The value of a variable, if it has one.
using Environment = std::function<std::optional<std::string>(const char* variable)>;
/// The same of another process, whose environment is given.
Launch find_launch(const Environment& environment);

/// Throws RequestError where the launcher started more processes than MPI has ranks: each would be a run of its own, in
/// the same run directory. So it is where srun does not speak with MPI, or where mpiexec is of another MPI.
void check_launch(const Launch& launch, std::int64_t num_ranks);

/// Says that a batch job has tasks (SLURM_NTASKS) that no launcher has started, and which line of the job script starts
/// them; empty where that is not so.
std::string describe_unused_tasks(const Launch& launch, const std::string& command);

}  // namespace convoy
