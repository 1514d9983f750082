#!/bin/bash
# A table of measurements, one job for each row: all write into one run.directory, and the last to end completes the table.
#   build/release/convoy sweep FILE.cfg --sweep.list=true     # how many rows there are
#   sbatch --array=1-12 jobs/sweep.sh FILE.cfg [--key=value ...]
# In one job, without --array, all rows are measured, each on as many of the job's ranks as it needs.
##SBATCH --account=PROJECT   # with one # fewer where your cluster asks for it. Modules: common.sh
##SBATCH --partition=NAME
#SBATCH --job-name=convoy
#SBATCH --output=%x-%A-%a.log
#SBATCH --nodes=1
#SBATCH --ntasks=4
#SBATCH --cpus-per-task=4
#SBATCH --hint=nomultithread
#SBATCH --exclusive
#SBATCH --mem=0
#SBATCH --time=04:00:00
#SBATCH --signal=TERM@120    # stops before the time limit; submitted again, it continues
set -euo pipefail
: "${SLURM_JOB_ID:?this is a job of Slurm, started by: sbatch $0 ... Without Slurm: tools/mpirun -n 4 convoy train ...}"
# sbatch runs a copy of this script: Slurm knows where it lies, next to common.sh.
jobs=${CONVOY_JOBS:-$(dirname "$(scontrol show job "$SLURM_JOB_ID" | sed -nE '/^ *Command=/{s/^ *Command=(([^.]|\.[^s]|\.s[^h]|\.sh[^ ])*\.sh)( .*)?$/\1/p;q}')")}
[[ -f $jobs/common.sh ]] || { echo "$0: where is common.sh? CONVOY_JOBS=/path/to/convoy/jobs sbatch ..." >&2; exit 2; }
source "$jobs/common.sh"

file=${1:?the parameter file is missing: sbatch jobs/sweep.sh FILE.cfg}
"${convoy[@]}" sweep "$file" --run.threads="$SLURM_CPUS_PER_TASK" --sweep.row="${SLURM_ARRAY_TASK_ID:-0}" "${@:2}"
