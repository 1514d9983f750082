#!/bin/bash
# Predicts the classes of a data set, a folder of images or texts, or one of them. Arguments are those of `convoy predict`:
#   sbatch jobs/predict.sh runs/mine/params.cfg --predict.data=photos --predict.output=photos.csv
#SBATCH --job-name=convoy-predict
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

"${convoy[@]}" predict --run.threads="$SLURM_CPUS_PER_TASK" "$@"
