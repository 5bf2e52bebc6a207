#!/usr/bin/env bash
# The whole test suite: packages, build, run. See --help.
set -euo pipefail
cd "$(dirname "$0")"
source .ci/common.sh

usage="usage: ./test.sh [--asan] [-- CTEST OPTION…]

Installs the Debian packages that are missing, builds everything and runs the tests. At the end it lists the tests that
were skipped because something is missing: python3, chromium, pandoc, PyTorch, Open MPI or instructions of the CPU.

Options of ctest choose tests: ./test.sh -- -L quick.

  --asan   build into build-asan/ with address and undefined-behaviour sanitizers, with clang++ where it can
  --help   this text"

# summary LOG: of CTest's log, how many tests passed, failed and were skipped, and why. A test case of doctest
# is a test, and so is each other entry of CTest. A failed entry without doctest's count, as after a crash, is
# one failed test.
summary() {
  awk '
    /^[0-9]+\/[0-9]+ Testing: / { passed = failed = left = counted = 0 }
    /^\[doctest\] test cases: / { gsub(/\|/, " "); passed = $4; failed = $6; counted = 1 }
    /^skipped: / { sub(/^skipped: /, ""); sub(/ \[.*\]$/, ""); why[$0]++; left++ }
    /^Test (Passed|Failed)/ {  # of a skipped one too it says "Passed"
      if (counted) passed -= left
      else passed = /Passed/ && !left
      if (/Failed/ && !failed) failed = 1
      all_passed += passed; all_failed += failed; all_left += left
    }
    END {
      printf "isobar: %d tests, %d passed, ", all_passed + all_failed + all_left, all_passed
      if (all_failed) printf "%d failed, ", all_failed
      printf "%d skipped", all_left
      between = ": "
      for (reason in why) {
        printf "%s%s (%d)", between, reason, why[reason]
        between = "; "
      }
      print ""
    }' "$1"
}

preset=release folder=build
while (($#)); do
  case $1 in
    --asan) preset=asan folder=build-asan ;;
    --) shift; break ;;
    -h | --help) echo "$usage"; exit 0 ;;
    *) fail "test.sh knows --asan, --help and, for ctest, --, not $1" ;;
  esac
  shift
done

install_missing $packages
if [[ $preset == asan && -z ${CXX:-} ]] &&
  echo 'int main() {}' | clang++ -fsanitize=address,undefined -x c++ - -o /dev/null 2>/dev/null; then
  export CXX=clang++
fi
build "$preset" "$folder"
status=0
ctest --preset "$preset" --no-tests=error --parallel "$(job_count)" "$@" || status=$?
summary "$folder/Testing/Temporary/LastTest.log"
exit $status
