#!/usr/bin/env bash
# From a bare Debian or Ubuntu to the page of claims: packages, build, run. See --help.
set -euo pipefail
cd "$(dirname "$0")"
source .ci/common.sh

usage="usage: ./run.sh [--build-only]

Installs the packages of Debian or Ubuntu that are missing (elsewhere it names them and stops), builds into build/,
runs every study and writes one page of it all.
  build/bin/decay_study             eight layers, as a text printed them and as they are: built and shown first
  build/bin/isobar verify --quick   every study small, a table as each ends, and a verdict on each claim of
                                    five texts, a chapter on five papers, and four papers
  build/bin/train_lm                a small language model on Tiny Shakespeare, every module observed
  build/bin/isobar report           the page, runs/report.html: there from the first study on, and renewed;
                                    at the end with a chapter that runs the eight layers in your browser
On two idle cores the first table is there two minutes after the packages, everything after ten. Studies that finished with
the same settings are not run again, and a training that is in runs/train_lm stays: remove runs/ to measure anew.

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
# run PROGRAM [OPTION…]
run() {
  local code=0
  say "build/bin/$*"
  "build/bin/$1" "${@:2}" || code=$?
  case $code in
    0) ;;
    3) say "a study cannot run here, for the reason above; the rest is done" ;;
    *) status=$code; say "$1 ended with exit code $code" ;;
  esac
}
page=runs/report.html
# The first table is there before the other programs are built.
build release build decay_study
run decay_study --out runs/eight_layers --force
build release build programs
run isobar verify --quick --page "$page"
if [[ -f runs/train_lm/summary.json ]]; then
  say "runs/train_lm holds a training: it stays"
else
  run train_lm
fi

folders=()
for folder in runs/verify runs/train_lm; do
  [[ -f $folder/summary.json ]] && folders+=("$folder")
done
((${#folders[@]})) || exit $status
build/bin/isobar report "${folders[@]}" --live -o "$page"
say "the page: file://$PWD/$page"
exit $status
