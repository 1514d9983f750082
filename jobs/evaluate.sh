#!/bin/bash
# Evaluates a run's best checkpoint, or the newest if there is no best one, on data.test. Arguments are those of `convoy evaluate`:
#   sbatch jobs/evaluate.sh runs/mine --evaluate.confusion=true
##SBATCH --account=PROJECT   # with one # fewer where your cluster asks for it. Modules: common.sh
##SBATCH --partition=NAME
#SBATCH --job-name=convoy-evaluate
#SBATCH --output=%x-%j.log
#SBATCH --nodes=1
#SBATCH --ntasks=4
#SBATCH --cpus-per-task=4
#SBATCH --hint=nomultithread
#SBATCH --exclusive
#SBATCH --mem=0
#SBATCH --time=01:00:00
set -euo pipefail
: "${SLURM_JOB_ID:?this is a job of Slurm, started by: sbatch $0 ... Without Slurm: tools/mpirun -n 4 convoy train ...}"
# sbatch runs a copy of this script: Slurm knows where it lies, next to common.sh.
jobs=${CONVOY_JOBS:-$(dirname "$(scontrol show job "$SLURM_JOB_ID" | sed -nE '/^ *Command=/{s/^ *Command=(([^.]|\.[^s]|\.s[^h]|\.sh[^ ])*\.sh)( .*)?$/\1/p;q}')")}
[[ -f $jobs/common.sh ]] || { echo "$0: where is common.sh? CONVOY_JOBS=/path/to/convoy/jobs sbatch ..." >&2; exit 2; }
source "$jobs/common.sh"

"${convoy[@]}" evaluate --run.threads="$SLURM_CPUS_PER_TASK" "$@"
