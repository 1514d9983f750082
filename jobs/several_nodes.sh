#!/bin/bash
# Several nodes: each pipeline inside a node, where memory is shared, and the replicas across the network.
#   sbatch --nodes=8 jobs/several_nodes.sh input/imagenet_resnet50.cfg --run.directory=runs/several_nodes
#
#            node 1              node 2
#   replica 0  0 > 1 > 2 > 3                      > activations, each micro-batch: inside the node
#   replica 1                 4 > 5 > 6 > 7       0-4, 1-5, 2-6, 3-7 gradients, each step: across
#SBATCH --job-name=convoy
#SBATCH --output=%x-%j.log
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4  # as many stages; fewer: --grid.stages=2, that a node holds whole pipelines
#SBATCH --cpus-per-task=4    # threads a rank
#SBATCH --time=24:00:00
set -euo pipefail

# Nodes that have more than one network: name the fast one, if Open MPI does not choose it by itself.
# export OMPI_MCA_btl_tcp_if_include=ib0

# --distribution=block   ranks 0, 1, 2 ... fill one node before the next: the stages of a replica stay together
# the others             see one_node.sh
srun --mpi=pmix --kill-on-bad-exit=1 --cpus-per-task="$SLURM_CPUS_PER_TASK" --cpu-bind=cores \
  --distribution=block:block \
  build/release/convoy train --grid.stages="$SLURM_NTASKS_PER_NODE" --run.threads="$SLURM_CPUS_PER_TASK" "$@"
