#!/bin/bash
# A run longer than the queue allows, or on nodes that others may take: stops with a checkpoint and queues itself again.
#   sbatch jobs/requeue.sh input/imagenet_resnet50.cfg --run.directory=runs/requeue
#
#   time limit near    Slurm sends USR1 --> checkpoint, status 75 --> this script requeues the job
#   preempted          Slurm sends TERM --> checkpoint, status 75 --> Slurm requeues the job
#   a node died        ................................................ Slurm requeues the job
# Each start goes on from the newest checkpoint that verifies (checkpoint.resume = auto).
#SBATCH --job-name=convoy
#SBATCH --output=%x-%j.log
#SBATCH --open-mode=append   # one log over all starts
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
#SBATCH --cpus-per-task=4
#SBATCH --time=04:00:00
#SBATCH --requeue
#SBATCH --signal=USR1@120    # to every rank, 120 seconds before the end: more than a step and a checkpoint take
set -uo pipefail

stopped_early=75     # convoy's status for "there is a checkpoint, run me again"
killed_by_usr1=138   # srun's, where the signal came before MPI had started: convoy listens from there on
max_restarts=200     # so that a run that cannot get on does not queue for ever

trap 'true' TERM  # preemption: outlive the ranks' checkpoint
echo "Start $((${SLURM_RESTART_COUNT:-0} + 1)) on $SLURM_JOB_NODELIST, $(date --iso-8601=seconds)"

# The options of srun: see one_node.sh and several_nodes.sh
srun --mpi=pmix --kill-on-bad-exit=1 --cpus-per-task="$SLURM_CPUS_PER_TASK" --cpu-bind=cores \
  --distribution=block:block build/release/convoy train --run.threads="$SLURM_CPUS_PER_TASK" "$@"
status=$?

if ((status == stopped_early || status == killed_by_usr1)); then
  if ((${SLURM_RESTART_COUNT:-0} < max_restarts)); then
    scontrol requeue "$SLURM_JOB_ID"
  else
    echo "requeue.sh: $max_restarts restarts are the limit; submit the job again to go on." >&2
  fi
fi
exit "$status"
