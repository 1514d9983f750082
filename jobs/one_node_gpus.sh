#!/bin/bash
# One node, one rank a GPU. Submit from the project's root; arguments are a parameter file and keys:
#   sbatch jobs/one_node_gpus.sh input/imagenet_resnet50.cfg --train.precision=bf16 --run.directory=runs/gpus
#   sbatch --gres=gpu:8 --ntasks=8 jobs/one_node_gpus.sh ...
#SBATCH --job-name=convoy
#SBATCH --output=%x-%j.log
#SBATCH --nodes=1
#SBATCH --ntasks=4           # ranks: grid.stages x replicas, as many as GPUs
#SBATCH --gres=gpu:4
#SBATCH --cpus-per-task=8    # for the loader's threads (data.loader_threads)
#SBATCH --time=04:00:00
set -euo pipefail

# All of the node's GPUs are visible to all ranks, and rank i takes GPU i. With one GPU bound to each task
# (--gpus-per-task, --gpu-bind) it works too, but some versions of NCCL then copy through host memory.
# --mpi, --kill-on-bad-exit, --cpus-per-task   see one_node.sh
srun --mpi=pmix --kill-on-bad-exit=1 --cpus-per-task="$SLURM_CPUS_PER_TASK" --cpu-bind=cores \
  build/release/convoy train --run.device=cuda "$@"
