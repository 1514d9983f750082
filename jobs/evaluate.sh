#!/bin/bash
# Evaluates a run's best checkpoint, or the newest where there is no best one, on data.test. Arguments are those of `convoy evaluate`:
#   sbatch jobs/evaluate.sh runs/mine/params.cfg --evaluate.confusion=true
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
source "$SLURM_SUBMIT_DIR/jobs/common.sh"

"${convoy[@]}" evaluate --run.threads="$SLURM_CPUS_PER_TASK" "$@"
