#!/bin/bash
# Imports images or texts on all cores of a node. Submit from the project's root; arguments are those of `convoy import`:
#   sbatch jobs/import.sh --import.source=photos --import.output=data/photos --import.size=256
#SBATCH --job-name=convoy-import
#SBATCH --output=%x-%j.log
#SBATCH --nodes=1
#SBATCH --ntasks=16          # ranks, each on one core: as many as cores, or as the file system can feed
#SBATCH --cpus-per-task=1
#SBATCH --hint=nomultithread
#SBATCH --exclusive
#SBATCH --mem=0
#SBATCH --time=04:00:00
set -euo pipefail
source "$SLURM_SUBMIT_DIR/jobs/common.sh"

"${convoy[@]}" import "$@"
