#!/bin/bash
# One parameter file with several seeds, each in a run directory of its own: runs/seeds/seed-1 ...
#   sbatch --array=1-5 jobs/seeds.sh runs/seeds input/fashion_resnet20.cfg [--key=value ...]
#SBATCH --job-name=convoy
#SBATCH --output=%x-%A-%a.log
#SBATCH --array=1-3          # the seeds; --array=1-20%4 runs at most four at once
#SBATCH --nodes=1
#SBATCH --ntasks=4
#SBATCH --cpus-per-task=4
#SBATCH --hint=nomultithread
#SBATCH --exclusive
#SBATCH --mem=0
#SBATCH --time=04:00:00
set -euo pipefail
source "$SLURM_SUBMIT_DIR/jobs/common.sh"

runs=${1:?the directory of the runs is missing: sbatch jobs/seeds.sh runs/seeds FILE.cfg}
seed=$SLURM_ARRAY_TASK_ID
train --run.threads="$SLURM_CPUS_PER_TASK" "${@:2}" --train.seed="$seed" --run.directory="$runs/seed-$seed"
