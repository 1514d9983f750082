#!/bin/bash
# Trains on one node. Arguments are a parameter file and keys, as for `convoy train`:
#   sbatch jobs/one_node.sh input/fashion_resnet20.cfg --grid.stages=2 --run.directory=runs/one_node
##SBATCH --account=PROJECT   # with one # fewer where your cluster asks for it. Modules: common.sh
##SBATCH --partition=NAME
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
: "${SLURM_JOB_ID:?this is a job of Slurm, started by: sbatch $0 ... Without Slurm: tools/mpirun -n 4 convoy train ...}"
# sbatch runs a copy of this script: Slurm knows where it lies, next to common.sh.
jobs=${CONVOY_JOBS:-$(dirname "$(scontrol show job "$SLURM_JOB_ID" | sed -nE '/^ *Command=/{s/^ *Command=(([^.]|\.[^s]|\.s[^h]|\.sh[^ ])*\.sh)( .*)?$/\1/p;q}')")}
[[ -f $jobs/common.sh ]] || { echo "$0: where is common.sh? CONVOY_JOBS=/path/to/convoy/jobs sbatch ..." >&2; exit 2; }
source "$jobs/common.sh"

train --run.threads="$SLURM_CPUS_PER_TASK" "$@"
