#!/usr/bin/env bash
# From a bare Debian 12 to both studies: packages, build, run. See --help.
set -euo pipefail
cd "$(dirname "$0")"
source .ci/door.sh

usage="usage: ./run.sh [--build-only]

Installs the Debian packages that are missing, builds into build/ and runs both studies at their default size:
  build/bin/decay_study   how signal and gradient fade through a deep network, layer by layer
  build/bin/train_lm      a small language model on Tiny Shakespeare
Their files go to runs/default/<study>/, replacing those of the last ./run.sh.

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
build release build programs
[[ $build_only ]] && { say "built: build/bin/decay_study, build/bin/train_lm"; exit 0; }

fetch_corpus
status=0
for study in decay_study train_lm; do
  say "$study: build/bin/$study --out runs/default/$study --force"
  "build/bin/$study" --out "runs/default/$study" --force || { status=$?; say "$study ended with exit code $status"; }
done
for study in decay_study train_lm; do
  [[ -d runs/default/$study ]] && ls -l runs/default/$study/*
done
exit $status
