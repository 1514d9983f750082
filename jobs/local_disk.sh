#!/bin/bash
# Trains from copies of the data on the nodes' own disks, for file systems that are slow with many readers.
#   sbatch jobs/local_disk.sh data/imagenet input/imagenet_resnet50.cfg [--key=value ...]
# The first argument is the folder of an import: it is copied to every node once, read as data.train = FOLDER/train and
# data.test = FOLDER/test (FOLDER/val where there is no test), and removed at the end.
#SBATCH --job-name=convoy
#SBATCH --output=%x-%j.log
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
#SBATCH --cpus-per-task=4
#SBATCH --hint=nomultithread
#SBATCH --exclusive
#SBATCH --mem=0
#SBATCH --time=24:00:00
set -euo pipefail
source "$SLURM_SUBMIT_DIR/jobs/common.sh"

data=${1:?the folder of the data is missing: sbatch jobs/local_disk.sh data/imagenet FILE.cfg}
copy=${LOCAL_DISK:-/tmp}/convoy-$SLURM_JOB_ID  # LOCAL_DISK: where your nodes have their own disk

on_each_node() {
  srun --mpi=none --nodes="$SLURM_NNODES" --ntasks="$SLURM_NNODES" --ntasks-per-node=1 --cpus-per-task=1 "$@"
}
trap 'on_each_node rm -rf "$copy"' EXIT
on_each_node mkdir -p "$copy"
on_each_node cp -r "$data/." "$copy"

keys=(--data.train="$copy/train")
for split in test val; do
  if compgen -G "$data/$split*.h5" >/dev/null; then
    keys+=(--data.test="$copy/$split")
    break
  fi
done
train "${@:2}" --run.threads="$SLURM_CPUS_PER_TASK" "${keys[@]}"
