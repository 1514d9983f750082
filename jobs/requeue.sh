#!/bin/bash
# A run longer than the queue allows, or on nodes that others may take: stops with a checkpoint and is queued again.
#   sbatch jobs/requeue.sh input/imagenet_resnet50.cfg --run.directory=runs/requeue
#
#   time limit near    Slurm sends USR1 --> checkpoint, status 75 --> this script requeues the job
#   preempted          Slurm sends TERM --> checkpoint, status 75 --> this script or Slurm requeues the job
#   a node died        ................................................ Slurm requeues the job
#   a node is wrong    run.audit_every finds it ---> status 75 --> this script requeues the job; audit.log names the node, and
#                      scontrol update JobId=... ExcNodeList=... avoids it
#   scancel            Slurm sends TERM --> checkpoint, status 75; the job is not queued again
# Each start resumes from the newest checkpoint that verifies (checkpoint.resume = auto).
##SBATCH --account=PROJECT   # with one # fewer where your cluster asks for it. Modules: common.sh
##SBATCH --partition=NAME
#SBATCH --job-name=convoy
#SBATCH --output=%x-%j.log
#SBATCH --open-mode=append   # one log over all starts
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
#SBATCH --cpus-per-task=4
#SBATCH --hint=nomultithread
#SBATCH --exclusive
#SBATCH --mem=0
#SBATCH --time=04:00:00
#SBATCH --requeue
#SBATCH --signal=B:USR1@120  # to this script, 120 seconds before the end: more than a step and a checkpoint take
set -uo pipefail
: "${SLURM_JOB_ID:?this is a job of Slurm, started by: sbatch $0 ... Without Slurm: tools/mpirun -n 4 convoy train ...}"

readonly stopped_early=75     # convoy's status for "there is a checkpoint, run me again"
readonly killed_by_usr1=138   # where the signal came before convoy caught it: it had not begun
readonly max_restarts=200     # so that a run that makes no progress does not queue for ever
readonly restarts=${SLURM_RESTART_COUNT:-0}

job=''
trap 'true' TERM  # outlive the ranks, which write a checkpoint
trap '[[ ! $job ]] || kill -USR1 "$job"' USR1

# sbatch runs a copy of this script: Slurm knows where it lies, next to common.sh.
jobs=${CONVOY_JOBS:-$(dirname "$(scontrol show job "$SLURM_JOB_ID" | sed -nE '/^ *Command=/{s/^ *Command=(([^.]|\.[^s]|\.s[^h]|\.sh[^ ])*\.sh)( .*)?$/\1/p;q}')")}
[[ -f $jobs/common.sh ]] || { echo "$0: where is common.sh? CONVOY_JOBS=/path/to/convoy/jobs sbatch ..." >&2; exit 2; }
source "$jobs/common.sh"
echo "Start $((restarts + 1)) on $SLURM_JOB_NODELIST, $(date --iso-8601=seconds)"
check_first --run.threads="$SLURM_CPUS_PER_TASK" "$@"
"${convoy[@]}" train --run.threads="$SLURM_CPUS_PER_TASK" "$@" &
job=$!
while kill -0 "$job" 2>/dev/null; do
  wait "$job"  # until it ends or a signal comes
done
wait "$job"
status=$?

# A job that was cancelled, or that Slurm requeues by itself, is COMPLETING by now; so is one at its time limit, which has
# that reason.
is_to_resume() {
  local -r state=$(scontrol show job "$SLURM_JOB_ID")
  [[ $state == *JobState=RUNNING* || $state == *Reason=TimeLimit* ]]
}

if ((status == stopped_early || status == killed_by_usr1)) && is_to_resume; then
  if ((restarts < max_restarts)); then
    scontrol requeue "$SLURM_JOB_ID"
  else
    echo "requeue.sh: $max_restarts restarts are the limit; submit the job again to resume." >&2
  fi
fi
exit "$status"
