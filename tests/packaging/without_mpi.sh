#!/bin/sh
# without_mpi.sh PROGRAMS FOLDER PLUGINS: no program and no library of ours loads MPI by itself, and where a
# launcher started several processes and there is no plugin, each exits with 2 and says why in one line, and
# there is no run's folder. PLUGINS is where installed ones would be found.
set -eu
programs=$1 here=$2 plugins=$3
fail() { echo "$*"; exit 1; }

seen=0
for file in "$programs"/* "$programs"/../libisobar*.so; do
  [ -f "$file" ] && [ -x "$file" ] || continue
  libraries=$(ldd "$file" 2>&1) || continue  # a script
  seen=$((seen + 1))
  if echo "$libraries" | grep -E '^[[:space:]]*lib(mpi|mpich|open-rte|open-pal|pmi|pmix|ucp|fabric)[^a-z]'; then fail "$file loads MPI"; fi
done
[ "$seen" -ge 10 ] || fail "wanted the programs in $programs, found $seen"

[ ! -e "$plugins" ] || { echo "skipped: plugins are installed in $plugins"; exit 77; }
rm -rf "$here" && mkdir -p "$here/bin" && cp "$programs/train_lm" "$here/bin" && cd "$here"
# refused SAYS NAME=VALUE…: train_lm under such a launcher.
refused() {
  says=$1
  shift
  code=0
  env "$@" bin/train_lm --corpus synthetic --max_iters 1 >said.txt 2>&1 || code=$?
  [ "$code" = 2 ] || fail "$*: exit code $code: $(cat said.txt)"
  [ "$(wc -l <said.txt)" = 1 ] || fail "$*: wanted one line, got: $(cat said.txt)"
  grep -q "$says" said.txt || fail "$*: wanted '$says', got: $(cat said.txt)"
  [ ! -e runs ] || fail "$*: a folder was made"
}
for rank in 0 3; do
  open="Open MPI's mpirun started several processes (OMPI_COMM_WORLD_RANK is $rank), but this isobar has no libisobar_openmpi.so"
  refused "$open: install libopenmpi-dev" OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_RANK=$rank
  refused "MPICH's mpirun .* no libisobar_mpich.so: install libmpich-dev" PMI_SIZE=4 PMI_RANK=$rank
  refused "a launcher with PMIx .* no libisobar_openmpi.so" PMIX_RANK=$rank
done
# One process of a launcher needs no plugin.
alone() { env "$@" bin/train_lm --tiny --corpus synthetic --force >said.txt 2>&1 || fail "$*: $(cat said.txt)"; }
alone OMPI_COMM_WORLD_SIZE=1 OMPI_COMM_WORLD_RANK=0
alone SLURM_STEP_NUM_TASKS=1 PMIX_RANK=0
