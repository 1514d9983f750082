#!/bin/bash
# One node. Submit from the project's root; arguments are a parameter file and keys, as for `convoy train`:
#   sbatch jobs/one_node.sh input/fashion_resnet20.cfg --grid.stages=2 --run.directory=runs/one_node
#SBATCH --job-name=convoy
#SBATCH --output=%x-%j.log
#SBATCH --nodes=1
#SBATCH --ntasks=4           # ranks: grid.stages x replicas
#SBATCH --cpus-per-task=4    # threads a rank
#SBATCH --time=04:00:00
set -euo pipefail

# --mpi=pmix           the interface through which Open MPI's ranks find each other
# --kill-on-bad-exit   when a rank dies the job ends, instead of waiting for it until the time limit
# --cpus-per-task      again, because srun does not inherit it from sbatch since Slurm 22.05
srun --mpi=pmix --kill-on-bad-exit=1 --cpus-per-task="$SLURM_CPUS_PER_TASK" --cpu-bind=cores \
  build/release/convoy train --run.threads="$SLURM_CPUS_PER_TASK" "$@"
