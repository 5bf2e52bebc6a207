#!/usr/bin/env bash
# From a bare Debian 12 to the page of claims: packages, build, run. See --help.
set -euo pipefail
cd "$(dirname "$0")"
source .ci/door.sh

usage="usage: ./run.sh [--build-only]

Installs the Debian packages that are missing, builds into build/, runs every study and writes one page of it all:
  build/bin/decay_study             eight layers, as a blog printed them and as they are: built and shown first
  build/bin/isobar verify --quick   every study small, and a verdict on each claim of the sources
  build/bin/train_lm                a small language model on Tiny Shakespeare, watched while it trains
  build/bin/isobar report           the page: runs/default/report.html
Their files go to runs/default/. Studies that isobar verify finished with the same settings are not run again: remove
runs/default/ to measure anew.

  --build-only   stop after the build
  --help         this text"

build_only=
case "${1:-}" in
  "") ;;
  --build-only) build_only=yes ;;
  -h | --help) echo "$usage"; exit 0 ;;
  *) fail "run.sh knows --build-only and --help, not $1; for a study's own options run build/bin/<study> --help" ;;
esac
(($# <= 1)) || fail "run.sh takes one option at most, got: $*"

install_missing $packages
if [[ $build_only ]]; then
  build release build programs
  say "built: build/bin/isobar and the studies beside it"
  exit 0
fi

status=0
# run FOLDER PROGRAM [OPTION…]
run() {
  local folder=$1 code=0
  shift
  say "build/bin/$*"
  "build/bin/$@" --out "runs/default/$folder" --force || code=$?
  case $code in
    0) ;;
    3) say "a study cannot run here, for the reason above; the rest is done" ;;
    *) status=$code; say "$1 ended with exit code $code" ;;
  esac
}
# The first table is there before the other programs are built.
build release build decay_study
run eight_layers decay_study
build release build programs
run verify isobar verify --quick
run train_lm train_lm

folders=()
for folder in runs/default/{verify,train_lm}; do
  [[ -f $folder/summary.json ]] && folders+=("$folder")
done
((${#folders[@]})) || exit $status
build/bin/isobar report "${folders[@]}" -o runs/default/report.html
say "the page: file://$PWD/runs/default/report.html"
exit $status
