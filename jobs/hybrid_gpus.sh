#!/bin/bash
# Trains on the GPUs of several nodes, with model and data parallelism at once: a replica is a pipeline over 2 neighbouring
# GPUs of one node, and the replicas average their gradients across the network.
#   sbatch jobs/hybrid_gpus.sh input/imagenet_resnet50.cfg --train.precision=bf16 --run.directory=runs/hybrid
#
#            node 1          node 2          node 3
#   GPUs     0 > 1   2 > 3   0 > 1   2 > 3   0 > 1   2 > 3     > activations of each micro-batch: inside the node
#   replica    0       1       2       3       4       5       gradients of each step: among GPUs 0, 2 and 1, 3 of all
#
# 6 replicas share the micro-batches of a step: batch.global / batch.micro a multiple of 6 keeps them equally busy. For
# the same bits as on other grids, as many replicas as a power of two: --nodes=2 or 4.
##SBATCH --account=PROJECT   # with one # fewer where your cluster asks for it. Modules: common.sh
##SBATCH --partition=NAME
#SBATCH --job-name=convoy
#SBATCH --output=%x-%j.log
#SBATCH --nodes=3
#SBATCH --ntasks-per-node=4  # one rank per GPU
#SBATCH --gres=gpu:4         # on some clusters --gpus-per-node=4, or with a kind: --gres=gpu:a100:4
#SBATCH --cpus-per-task=8    # cores per GPU, as in one_node_gpus.sh
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

train --grid.stages=2 --run.device=cuda "$@"
