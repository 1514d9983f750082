#!/bin/bash
# Trains on one node. Submit from the project's root; arguments are a parameter file and keys, as for `convoy train`:
#   sbatch jobs/one_node.sh input/fashion_resnet20.cfg --grid.stages=2 --run.directory=runs/one_node
#SBATCH --job-name=convoy
#SBATCH --output=%x-%j.log
#SBATCH --nodes=1
#SBATCH --ntasks=4           # ranks: grid.stages x replicas
#SBATCH --cpus-per-task=4    # threads per rank
#SBATCH --hint=nomultithread
#SBATCH --exclusive          # to share the node with other jobs: delete this, and set --mem (see jobs/README.md)
#SBATCH --mem=0              # all of the node's memory
#SBATCH --time=04:00:00
set -euo pipefail
source "$SLURM_SUBMIT_DIR/jobs/common.sh"

train --run.threads="$SLURM_CPUS_PER_TASK" "$@"
