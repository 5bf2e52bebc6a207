#!/bin/sh
# programs.sh PREFIX FOLDER: the installed programs find their data, each other and their completion, in
# whatever place the package stands. A copy of it is made below FOLDER. Exit 77 (skipped) where Open MPI is
# missing and all else holds.
set -eu
prefix=$1 here=$2
unset ISOBAR_DATA
rm -rf "$here" && mkdir -p "$here" && cp -r "$prefix" "$here/moved" && cd "$here"
bin=$here/moved/bin
fail() { echo "$*"; exit 1; }

# isobar verify starts the study beside it.
"$bin/isobar" verify --only blog8 >verify.txt || fail "isobar verify: exit code $?: $(cat verify.txt)"
grep -q '^D01 ' verify.txt || fail "isobar verify judged no D01"
"$bin/isobar" report runs/verify -o page.html >/dev/null
PATH=$bin:$PATH isobar decay_study --print-config >/dev/null

# train_lm reads the installed text, and no other: where that one is damaged, it is the one that is named.
"$bin/train_lm" --tiny >train.txt 2>&1 || fail "train_lm: exit code $?: $(cat train.txt)"
echo damaged >moved/share/isobar/tinyshakespeare.txt
"$bin/train_lm" --tiny --force >damaged.txt 2>&1 && fail "train_lm read another text than the installed one"
grep -q "$here/moved/share/isobar/tinyshakespeare.txt: this is not the file" damaged.txt || fail "$(cat damaged.txt)"
rm moved/share/isobar/tinyshakespeare.txt
"$bin/train_lm" --tiny --force >missing.txt 2>&1 && fail "train_lm read a text that is not installed"
grep -q "tinyshakespeare.txt is not in $here/moved/share/isobar; install Isobar again" missing.txt || fail "$(cat missing.txt)"

# OpenBLAS is a plugin, which is loaded where it is asked for.
! ldd "$bin/train_lm" | grep -i blas || fail "train_lm loads OpenBLAS unasked"
if [ -e moved/lib/isobar/libisobar_openblas.so ]; then  # not where ISOBAR_OPENBLAS=OFF
  "$bin/train_lm" --tiny --corpus synthetic --products openblas --out blas >blas.txt 2>&1 || fail "--products openblas: $(cat blas.txt)"
  grep -q '"blas": *"OpenBLAS' blas/summary.json || fail "the summary does not say that OpenBLAS multiplied"
  rm moved/lib/isobar/libisobar_openblas.so
fi
"$bin/train_lm" --tiny --corpus synthetic --products openblas --out none >none.txt 2>&1 && fail "--products openblas without its plugin"
grep -q "this isobar has no libisobar_openblas.so: install libopenblas-dev" none.txt || fail "without the plugin: $(cat none.txt)"

# bash-completion loads a file of the command's name.
"$bin/isobar" completion bash >completion.txt
for program in isobar decay_study train_lm; do
  cmp completion.txt "moved/share/bash-completion/completions/$program"
done

# Under mpirun programs find the plugin in the package.
[ -e moved/lib/isobar/libisobar_openmpi.so ] && command -v mpirun.openmpi >/dev/null || { echo "skipped: no Open MPI here"; exit 77; }
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
mpirun.openmpi --oversubscribe -n 2 "$bin/train_lm" --tiny --gradient_accumulation_steps 2 --corpus synthetic --out ranks \
  >ranks.txt 2>&1 || fail "train_lm on two ranks: exit code $?: $(cat ranks.txt)"
[ -f ranks/summary.json ] || fail "train_lm on two ranks wrote no summary: $(cat ranks.txt)"
