#!/bin/bash
# From texts to a trained network on several nodes, with model and data parallelism at once: a replica is a pipeline over 2
# neighbouring ranks of one node, and the replicas average their gradients across the network.
#   sbatch jobs/hybrid_texts.sh aclImdb data/imdb input/imdb_transformer_documents.cfg [--key=value ...]
# The first argument is what `convoy import` takes: a folder or a table of texts. They are imported to the second, unless
# that holds them already, and read from there.
#
#            node 1           node 2
#   ranks    0 > 1   2 > 3    4 > 5   6 > 7     > activations of each micro-batch: inside the node
#   replica    0       1        2       3       gradients of each step: among ranks 0, 2, 4, 6 and 1, 3, 5, 7
#
# 4 replicas share the micro-batches of a step: batch.global / batch.micro a multiple of 4 keeps them equally busy.
##SBATCH --account=PROJECT   # with one # fewer where your cluster asks for it. Modules: common.sh
##SBATCH --partition=NAME
#SBATCH --job-name=convoy
#SBATCH --output=%x-%j.log
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
#SBATCH --cpus-per-task=4    # threads per rank
#SBATCH --hint=nomultithread
#SBATCH --exclusive
#SBATCH --mem=0
#SBATCH --time=12:00:00
set -euo pipefail
: "${SLURM_JOB_ID:?this is a job of Slurm, started by: sbatch $0 ... Without Slurm: tools/mpirun -n 4 convoy train ...}"
# sbatch runs a copy of this script: Slurm knows where it lies, next to common.sh.
jobs=${CONVOY_JOBS:-$(dirname "$(scontrol show job "$SLURM_JOB_ID" | sed -nE '/^ *Command=/{s/^ *Command=(([^.]|\.[^s]|\.s[^h]|\.sh[^ ])*\.sh)( .*)?$/\1/p;q}')")}
[[ -f $jobs/common.sh ]] || { echo "$0: where is common.sh? CONVOY_JOBS=/path/to/convoy/jobs sbatch ..." >&2; exit 2; }
source "$jobs/common.sh"

usage="sbatch jobs/hybrid_texts.sh aclImdb data/imdb FILE.cfg"
source=${1:?the texts are missing: $usage}
data=${2:?the folder for the imported texts is missing: $usage}

if ! compgen -G "$data/train*.h5" >/dev/null; then
  "${convoy[@]}" import --import.source="$source" --import.output="$data"
fi
train --grid.stages=2 --run.threads="$SLURM_CPUS_PER_TASK" "${@:3}" \
  --data.train="$data/train" --data.test="$data/test"
