#!/bin/sh
# handouts_test.sh SOURCE PREFIX: the numbers of one of the course's handouts are those of its reference, and
# a constant changed in a reference makes them wrong; written questions are graded as they should be, mistakes
# listed. Exit 77 (skipped) where there is no Python.
set -eu
course=$1/experiments/course/course prefix=$2
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }

python3 "$1/tests/course/questions_test.py" "$1"
python3 "$1/tests/course/mistakes_test.py" "$1"
"$course" handouts a4 --prefix "$prefix"  # all of them: .ci/run course
"$course" answers a4 --prefix "$prefix" | grep -F '**r * (dz[i] - mean_dz - z[i] * mean_dz_z)**'
if "$course" handouts a4 --prefix "$prefix" --change 'dyt(x, 0.5,' 'dyt(x, 0.6,'; then
  echo "another alpha in a4's reference goes unseen"
  exit 1
fi
