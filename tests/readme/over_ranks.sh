#!/bin/sh
# over_ranks.sh PROGRAM: the program of core/ranks/README.md prints the same on one, two and three ranks.
set -eu
one=$("$1")
echo "$one"
[ "$(echo "$one" | wc -l)" = 6 ]
folder=$(dirname "$1")/../lib/isobar
[ -e "$folder/libisobar_openmpi.so" ] && command -v mpirun.openmpi >/dev/null || { echo "skipped: no Open MPI here"; exit 77; }
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
for ranks in 2 3; do
  many=$(mpirun.openmpi --oversubscribe -n $ranks "$1")
  [ "$many" = "$one" ] || { echo "on $ranks ranks:"; echo "$many"; exit 1; }
done
