/// See convoy/comm/launch.h.
#include "convoy/comm/launch.h"

#include <array>
#include <cstdlib>

#include <fmt/core.h>

#include "convoy/base/error.h"
#include "convoy/base/wording.h"

namespace convoy {

namespace {

struct Variables {
  const char* rank;
  const char* size;
};
// From the innermost launcher to the outermost. PMIx has no variable for the size.
constexpr std::array<Variables, 4> kLaunchers = {{{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                                  {"PMI_RANK", "PMI_SIZE"},
                                                  {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"},
                                                  {"PMIX_RANK", nullptr}}};

std::optional<std::string> own_environment(const char* variable) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? std::nullopt : std::optional<std::string>(text);
}

std::optional<std::int64_t> number_in(const char* variable, const Environment& environment = own_environment) {
  const auto text = variable == nullptr ? std::nullopt : environment(variable);
  if (!text || text->empty() || text->front() < '0' || text->front() > '9') return std::nullopt;
  return std::atoll(text->c_str());
}

}  // namespace

Launch find_launch() {
  return find_launch(own_environment);
}

Launch find_launch(const Environment& environment) {
  for (const Variables& variables : kLaunchers) {
    const auto size = number_in(variables.size, environment), rank = number_in(variables.rank, environment);
    const bool is_launched = variables.size == nullptr ? rank.has_value() : size.has_value();  // Slurm's batch scripts
    if (is_launched)                                                                           // have a rank alone
      return {.size_variable = size ? variables.size : "",
              .size = size.value_or(1),
              .rank = rank.value_or(0),
              .is_launched = true};
  }
  return {};
}

void check_launch(const Launch& launch, std::int64_t num_ranks) {
  if (launch.size <= num_ranks) return;
  const bool is_slurm = launch.size_variable.starts_with("SLURM_") || std::getenv("SLURM_STEP_ID") != nullptr;
  refuse(
      "{} processes were started ({} = {}), but MPI reports only {}: the processes would run independently of each "
      "other. {}",
      launch.size, launch.size_variable, launch.size, counted(num_ranks, "rank"),
      is_slurm
          ? "srun did not connect the processes of this MPI: use srun --mpi=pmix (srun --mpi=list prints the types "
            "that this Slurm has), or start convoy with the mpirun of the MPI that it was built with."
          : "The launcher belongs to another MPI: start convoy with the mpirun of the MPI that it was built with.");
}

std::string describe_unused_tasks(const Launch& launch, const std::string& command) {
  const auto tasks = number_in("SLURM_NTASKS");
  if (launch.is_launched || tasks.value_or(1) <= 1) return "";
  return fmt::format(
      "Slurm gave this job {0} tasks (SLURM_NTASKS = {0}), but only one convoy process runs, with a part of the job's "
      "processors. Start convoy with a launcher in the job script: srun --mpi=pmix convoy {1} ..., or mpirun -n {0} "
      "convoy {1} ...",
      *tasks, command);
}

}  // namespace convoy
