#!/bin/bash
# Trains on the GPUs of one node, one rank per GPU. Arguments are a parameter file and keys:
#   sbatch jobs/one_node_gpus.sh input/imagenet_resnet50.cfg --train.precision=bf16 --run.directory=runs/gpus
#   sbatch --gres=gpu:8 --ntasks=8 jobs/one_node_gpus.sh ...
#
# All GPUs of the node are visible to all ranks, and rank i takes GPU i. With one GPU bound to each task (--gpus-per-task,
# --gpu-bind) it works too, but some versions of NCCL then copy through host memory.
##SBATCH --account=PROJECT   # with one # fewer where your cluster asks for it. Modules: common.sh
##SBATCH --partition=NAME
#SBATCH --job-name=convoy
#SBATCH --output=%x-%j.log
#SBATCH --nodes=1
#SBATCH --ntasks=4           # ranks: grid.stages x replicas, as many as GPUs
#SBATCH --gres=gpu:4         # on some clusters --gpus-per-node=4, or with a kind: --gres=gpu:a100:4
#SBATCH --cpus-per-task=8    # cores per GPU: the node's cores / its GPUs. The loader's threads use them
#SBATCH --hint=nomultithread
#SBATCH --exclusive
#SBATCH --mem=0
#SBATCH --time=04:00:00
set -euo pipefail
: "${SLURM_JOB_ID:?this is a job of Slurm, started by: sbatch $0 ... Without Slurm: tools/mpirun -n 4 convoy train ...}"
# sbatch runs a copy of this script: Slurm knows where it lies, next to common.sh.
jobs=${CONVOY_JOBS:-$(dirname "$(scontrol show job "$SLURM_JOB_ID" | sed -nE '/^ *Command=/{s/^ *Command=(([^.]|\.[^s]|\.s[^h]|\.sh[^ ])*\.sh)( .*)?$/\1/p;q}')")}
[[ -f $jobs/common.sh ]] || { echo "$0: where is common.sh? CONVOY_JOBS=/path/to/convoy/jobs sbatch ..." >&2; exit 2; }
source "$jobs/common.sh"

train --run.device=cuda "$@"
