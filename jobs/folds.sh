#!/bin/bash
# A cross-validation: each job leaves out one fold of the data set (import.folds) and is measured on it, in a run directory of
# its own: runs/folds/fold-1 ... Each job ends with a table of the results so far, with mean and standard deviation: that of
# the last job to end has all runs.
#   sbatch --array=1-5 jobs/folds.sh runs/folds FILE.cfg [--key=value ...]
# Each of 5 folds with 3 seeds, in runs/folds/fold-1-seed-1 ...:
#   FOLDS=5 sbatch --array=1-15 jobs/folds.sh runs/folds FILE.cfg
##SBATCH --account=PROJECT   # with one # fewer where your cluster asks for it. Modules: common.sh
##SBATCH --partition=NAME
#SBATCH --job-name=convoy
#SBATCH --output=%x-%A-%a.log
#SBATCH --array=1-5          # the folds; --array=1-20%4 runs at most four at once
#SBATCH --nodes=1
#SBATCH --ntasks=4
#SBATCH --cpus-per-task=4
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

runs=${1:?the directory of the runs is missing: sbatch jobs/folds.sh runs/folds FILE.cfg}
number=$((SLURM_ARRAY_TASK_ID - 1)) folds=${FOLDS:-$SLURM_ARRAY_TASK_ID}
fold=$((number % folds + 1)) seed=$((number / folds + 1))
run=(--data.fold="$fold" --run.directory="$runs/fold-$fold")
[[ -z ${FOLDS-} ]] || run=(--data.fold="$fold" --train.seed="$seed" --run.directory="$runs/fold-$fold-seed-$seed")
train --run.threads="$SLURM_CPUS_PER_TASK" "${@:2}" "${run[@]}"
"$program" compare --summary "$runs"/fold-* || true  # another job may be about to write its first file
