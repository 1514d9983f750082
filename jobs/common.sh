# What the job scripts share: which program they start, and how. Paths of data, parameter files and runs are those of the
# folder from which the job was submitted.
#
#   "${convoy[@]}" train FILE.cfg --key=value ...    starts convoy on all ranks of the job
#   train FILE.cfg --key=value ...                   the same; with CONVOY_CHECK=1 in the environment convoy check first
#   check_first FILE.cfg --key=value ...             that alone; where it finds that a training would fail, the job ends
# shellcheck shell=bash disable=SC2034  # the scripts use it

# --- Your cluster: change this ----------------------------------------------------------------------------------------
# What was loaded to build Convoy:
# module purge
# module load gcc openmpi hdf5

# The fast one of a node's networks, if Open MPI does not choose it by itself:
# export OMPI_MCA_btl_tcp_if_include=ib0
# ----------------------------------------------------------------------------------------------------------------------

# Named by the user, built in the folder above, installed with these scripts, or found as any program is.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
program=${CONVOY:-${here%/*}/build/release/convoy}
[[ -n ${CONVOY-} || -x $program ]] || program=${here%/*/*/*}/bin/convoy
[[ -n ${CONVOY-} || -x $program ]] || program=$(command -v convoy || echo "$program")
if [[ ! -x $program ]]; then
  echo "$here/common.sh: there is no program '$program'. Build it (tools/build), install it, or name it:" \
    "CONVOY=/path/to/convoy sbatch ..." >&2
  exit 2
fi

# Open MPI's ranks find each other by PMIx. Where Slurm has none, Open MPI's mpirun starts them on the job's nodes.
if srun --mpi=list 2>&1 | grep -w pmix >/dev/null; then  # not -q, which ends early and fails the pipe
  # --kill-on-bad-exit   when a rank dies the job ends, instead of waiting for it until the time limit
  # --cpus-per-task      again, because srun does not inherit it from sbatch since Slurm 22.05
  # --distribution       ranks 0, 1, 2 ... fill one node before the next, and one socket before the next: the stages of a
  #                      pipeline are neighbours
  convoy=(srun --mpi=pmix --kill-on-bad-exit=1 --cpus-per-task="$SLURM_CPUS_PER_TASK" --distribution=block:block "$program")
else
  convoy=(mpirun -n "$SLURM_NTASKS" --map-by slot --bind-to none "$program")
fi

check_first() {
  [[ ${CONVOY_CHECK:-0} != 1 ]] || "${convoy[@]}" check "$@" || exit
}

train() {
  check_first "$@"
  "${convoy[@]}" train "$@"
}
