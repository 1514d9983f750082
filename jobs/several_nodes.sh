#!/bin/bash
# Trains on several nodes: each pipeline inside a node, where memory is shared, and the replicas across the network.
#   sbatch --nodes=8 jobs/several_nodes.sh input/imagenet_resnet50.cfg --run.directory=runs/several_nodes
#
#            node 1              node 2
#   replica 0  0 > 1 > 2 > 3                      > activations, each micro-batch: inside the node
#   replica 1                 4 > 5 > 6 > 7       0-4, 1-5, 2-6, 3-7 gradients, each step: across
##SBATCH --account=PROJECT   # with one # fewer where your cluster asks for it. Modules: common.sh
##SBATCH --partition=NAME
#SBATCH --job-name=convoy
#SBATCH --output=%x-%j.log
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4  # as many stages; to have fewer, --grid.stages=2: a node then holds two whole pipelines
#SBATCH --cpus-per-task=4    # threads per rank
#SBATCH --hint=nomultithread
#SBATCH --exclusive
#SBATCH --mem=0
#SBATCH --time=24:00:00
set -euo pipefail
: "${SLURM_JOB_ID:?this is a job of Slurm, started by: sbatch $0 ... Without Slurm: tools/mpirun -n 4 convoy train ...}"
# sbatch runs a copy of this script: Slurm knows where it lies, next to common.sh.
jobs=${CONVOY_JOBS:-$(dirname "$(scontrol show job "$SLURM_JOB_ID" | sed -nE '/^ *Command=/{s/^ *Command=(([^.]|\.[^s]|\.s[^h]|\.sh[^ ])*\.sh)( .*)?$/\1/p;q}')")}
[[ -f $jobs/common.sh ]] || { echo "$0: where is common.sh? CONVOY_JOBS=/path/to/convoy/jobs sbatch ..." >&2; exit 2; }
source "$jobs/common.sh"

train --grid.stages="$SLURM_NTASKS_PER_NODE" --run.threads="$SLURM_CPUS_PER_TASK" "$@"
