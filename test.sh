#!/usr/bin/env bash
# The whole test suite: packages, build, run. See --help.
set -euo pipefail
cd "$(dirname "$0")"
source .ci/door.sh

usage="usage: ./test.sh [--asan]

Installs the Debian packages that are missing, builds everything and runs the tests. At the end it lists what was
skipped, since something is missing here: python3, chromium, PyTorch, or a CPU with bf16 instructions.

  --asan   build into build-asan/ with address and undefined-behaviour sanitizers, with clang++ where it can
  --help   this text"

preset=release folder=build
case "${1:-}" in
  "") ;;
  --asan) preset=asan folder=build-asan ;;
  -h | --help) echo "$usage"; exit 0 ;;
  *) fail "test.sh knows --asan and --help, not $1" ;;
esac
(($# <= 1)) || fail "test.sh takes one option at most, got: $*"

install_missing $packages
if [[ $preset == asan && -z ${CXX:-} ]] &&
  echo 'int main() {}' | clang++ -fsanitize=address,undefined -x c++ - -o /dev/null 2>/dev/null; then
  export CXX=clang++
fi
build "$preset" "$folder"
status=0
ctest --preset "$preset" --parallel "$(job_count)" || status=$?
# What a test leaves out where something is missing, CTest counts as passed.
skipped=$(grep -o 'skipped: .*' "$folder/Testing/Temporary/LastTest.log" | sort -u) || true
[[ -z $skipped ]] || printf 'isobar: %s\n' "some tests were left out here:" "${skipped//$'\n'/$'\n'isobar: }"
exit $status
