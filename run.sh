#!/usr/bin/env bash
# From a bare Debian or Ubuntu to the page of claims: packages, build, first results. See --help.
set -euo pipefail
cd "$(dirname "$0")"
source .ci/common.sh

usage="usage: ./run.sh [--build-only]

Installs the packages of Debian or Ubuntu that are missing (elsewhere it names them and stops), builds into build/,
and shows each result as soon as its program is built:
  build/bin/decay_study     eight layers, as a text printed them and as they are: a table and a chart
  build/bin/isobar report   the page, runs/report.html: every claim with its verdict, and a chapter that runs the eight
                            layers in your browser. Values that were not measured here are those of earlier full
                            runs, which come with Isobar; the page says which is which.
  build/bin/train_lm        a small language model on Tiny Shakespeare, every module observed; then the page has it
At last it builds the other studies. Then build/bin/isobar verify measures the claims on this machine: the last lines
say how long that takes. A training that is in runs/train_lm, and verdicts that are in runs/verify, stay.

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

# What the parts of the build take, in percent of all of it (g++ 12, seconds of each job in build/.ninja_log). The time of
# the parts that are built says how long the next one takes here.
declare -A share=([decay_study]=53 [isobar_tool]=27 [train_lm]=1 [programs]=19)
built=0 seconds=0
# build_part TARGET
build_part() {
  local start=$SECONDS
  ((built == 0)) || say "the next part, $1, takes about $(minutes $((seconds * share[$1] / built)))"
  build release build "$1"
  seconds=$((seconds + SECONDS - start)) built=$((built + share[$1]))
}
# minutes SECONDS: in words.
minutes() { (($1 < 90)) && echo "$1 s" || echo "$((($1 + 30) / 60)) min"; }

status=0
# run PROGRAM [OPTION…]
run() {
  local code=0
  say "build/bin/$*"
  "build/bin/$1" "${@:2}" || code=$?
  case $code in
    0) ;;
    3) say "$1 cannot run here, for the reason above; the rest is done" ;;
    *) status=$code; say "$1 ended with exit code $code" ;;
  esac
}
page=runs/report.html
# The page of the claims with what is in runs/.
report() {
  local folder folders=()
  for folder in runs/verify runs/eight_layers runs/train_lm; do
    [[ ! -f $folder/summary.json ]] || folders+=("$folder")
  done
  run isobar report --kept "${folders[@]}" --article ../docs/article.md --live -o "$page"
  say "the page: file://$PWD/$page"
}

build_part decay_study
run decay_study --out runs/eight_layers --force
build_part isobar_tool
report
build_part train_lm
if [[ -f runs/train_lm/summary.json ]]; then
  say "runs/train_lm holds a training: it stays"
else
  run train_lm
fi
build_part programs
report
exit $status
