#!/bin/bash
# Several parameter files, each in a run directory of its own: a.cfg in runs/compare/a ...
#   sbatch --array=1-3 jobs/parameter_files.sh runs/compare a.cfg b.cfg c.cfg [--key=value ...]
##SBATCH --account=PROJECT   # with one # fewer where your cluster asks for it. Modules: common.sh
##SBATCH --partition=NAME
#SBATCH --job-name=convoy
#SBATCH --output=%x-%A-%a.log
#SBATCH --array=1-2          # from 1 to the number of files
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

runs=${1:?the directory of the runs is missing: sbatch jobs/parameter_files.sh runs/compare a.cfg b.cfg}
files=() keys=()
for argument in "${@:2}"; do
  if [[ $argument == --* ]]; then keys+=("$argument"); else files+=("$argument"); fi
done
if ((SLURM_ARRAY_TASK_ID < 1 || SLURM_ARRAY_TASK_ID > ${#files[@]})); then
  echo "parameter_files.sh: there is no parameter file number $SLURM_ARRAY_TASK_ID. Submit with --array=1-${#files[@]}." >&2
  exit 2
fi
file=${files[SLURM_ARRAY_TASK_ID - 1]}
train "$file" --run.threads="$SLURM_CPUS_PER_TASK" "${keys[@]}" \
  --run.directory="$runs/$(basename "$file" .cfg)"
