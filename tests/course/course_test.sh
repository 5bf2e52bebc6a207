#!/bin/sh
# course_test.sh SOURCE PREFIX FOLDER: the commands of experiments/course/README.md, for a1, against an
# installed isobar. Exit 77 (skipped) where there is no Python, or where no namespaces confine submissions.
set -eu
course=$1/experiments/course prefix=$2 folder=$3
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"

# The two blocks of commands, with the places of this machine.
python3 -B "$1/docs/check" steps "$course/README.md" --in "$folder/shown"
for who in teacher student; do
  sed -e "s|/opt/isobar|$prefix|" -e "s|/tmp/a1|$folder/a1|" -e "s#^\./course #$course/course #" shown/$who.sh > $who.sh
done
[ "$(wc -l < teacher.sh)" -eq 2 ] && [ "$(wc -l < student.sh)" -eq 3 ]

python3 "$1/tests/course/broker_test.py" "$1"
if ! "$course/course" grade a1 "$course/a1" --prefix "$prefix" --out reference.json > reference.txt 2> refused.txt; then
  cat refused.txt
  if grep -q 'wanted bubblewrap' refused.txt; then exit 77; fi
  exit 1
fi
sh -e teacher.sh > stub.txt
grep -q '^a1: 0 of 100' stub.txt
python3 - <<'P'
import json
tests = json.load(open("results.json"))["tests"]
other = [t["name"] for t in tests if t["status"] != "failed" or " is to be written here" not in t["output"]]
assert tests and not other, other
P
grep -q '^a1: 100 of 100' reference.txt
(cd a1 && sh "$folder/student.sh" > check.txt) || true
grep -q '^FAIL task 2' a1/check.txt
