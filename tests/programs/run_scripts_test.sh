#!/usr/bin/env bash
# run.sh, test.sh and .ci/common.sh on a pretended machine: its dpkg-query, apt-get, sudo and id are scripts
# in a folder ahead on PATH, and what they are asked for is written down in a log.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit
machine=$(mktemp -d)
trap 'rm -rf "$machine"' EXIT
mkdir "$machine/bin" "$machine/home"
log=$machine/log
failures=0

# tool NAME: the machine's NAME is the script on stdin.
tool() { { echo '#!/bin/bash'; cat; } >"$machine/bin/$1" && chmod +x "$machine/bin/$1"; }
# on_machine WHAT COMMAND STATUS ASKED [OUTPUT]: runs it with common.sh loaded, and wants this exit code, these
# lines in the log and, where it is given, this output (of several lines: its end).
on_machine() {
  local output status=0 got wanted="exit code $3; asked: $4${5+; output: $5}"
  : >"$log"
  output=$(env -u CXX -u ISOBAR_DATA -u XDG_CACHE_HOME HOME="$machine/home" LOG="$log" MISSING="${missing:-}" \
    USER_ID="${user_id:-0}" PATH="${path:-$machine/bin:$PATH}" bash -c "set -euo pipefail; source .ci/common.sh; $2" 2>&1) ||
    status=$?
  [[ -z ${5:-} || $output != *"$5"* ]] || output=$5
  got="exit code $status; asked: $(cat "$log")${5+; output: $output}"
  [[ $got == "$wanted" ]] && return
  printf '%s\n  wanted: %s\n  got:    %s\n' "$1" "$wanted" "$got"
  failures=$((failures + 1))
}

tool dpkg-query <<'EOS'
[[ " $MISSING " == *" ${!#} "* ]] && { echo "no packages found matching ${!#}" >&2; exit 1; }
printf installed
EOS
tool apt-get <<<'echo "apt-get $*" >>"$LOG"'
tool sudo <<<'echo "sudo" >>"$LOG"; exec "$@"'
tool id <<<'echo "$USER_ID"'

install='install_missing $packages' update="apt-get -q update"
get="apt-get -qy --no-install-recommends install"
on_machine "nothing is missing: nothing is touched or said" "$install" 0 "" ""
missing="libtbb-dev ninja-build" on_machine "what is missing is named and installed, and nothing else" "$install" 0 \
  "$update"$'\n'"$get ninja-build libtbb-dev" "isobar: installing Debian packages: ninja-build libtbb-dev"
user_id=1000 missing=cmake on_machine "a user goes through sudo" "$install" 0 \
  "sudo"$'\n'"$update"$'\n'"sudo"$'\n'"$get cmake"

rm "$machine/bin/sudo"
mkdir "$machine/few"
ln -s "$(command -v bash)" "$(command -v cat)" "$machine/few"
path=$machine/bin:$machine/few user_id=1000 missing=cmake on_machine "a user without sudo is told what to do" "$install" 2 "" \
  "isobar: neither root nor sudo; as root: apt-get install cmake"

# A machine with dnf and no apt: what is missing is told in its words, before anything is done.
mkdir "$machine/fedora"
ln -s "$(command -v bash)" "$(command -v dirname)" "$(command -v sed)" "$machine/fedora"
for name in c++ cmake dnf; do ln -s /bin/false "$machine/fedora/$name"; done
path=$machine/fedora on_machine "run.sh without apt names the packages" "./run.sh --build-only" 2 "" \
  "isobar: no apt here, and these are missing: ninja pkg-config openblas tbb fmt hdf5 libutf8proc zlib libxxhash spdlog. Install them with: sudo dnf install gcc-c++ cmake ninja-build"
for name in ninja pkg-config; do ln -s /bin/true "$machine/fedora/$name"; done
path=$machine/fedora on_machine "and takes the libraries where all are there" "$install" 0 "" \
  "isobar: no apt here; taking the libraries as they are"

for script in run.sh test.sh; do
  on_machine "$script --help" "./$script --help" 0 "" "usage: ./$script"
  missing="g++" on_machine "$script refuses what it does not know" "./$script --frobnicate" 2 ""
done

# run.sh in a copy of its folder, where cmake and the programs are scripts too; train_lm ends with $CODE.
house=$machine/house
mkdir -p "$house/build/bin" && cp -r run.sh .ci "$house"
tool cmake <<<''
for program in decay_study isobar train_lm; do
  cat >"$house/build/bin/$program" <<'EOS'
#!/bin/bash
echo "${0##*/} $*" >>"$LOG"
case ${0##*/} in
  decay_study) folder=runs/eight_layers ;;
  train_lm) folder=runs/train_lm ;;
  *) exit 0 ;;
esac
((CODE == 0)) || [[ $folder != runs/train_lm ]] || exit "$CODE"
mkdir -p "$folder"; touch "$folder/summary.json"
EOS
  chmod +x "$house/build/bin/$program"
done
first="decay_study --out runs/eight_layers --force
isobar report --kept runs/eight_layers --article ../docs/article.md --live -o runs/report.html"
last="isobar report --kept runs/eight_layers runs/train_lm --article ../docs/article.md --live -o runs/report.html" run="cd '$house' && ./run.sh"
CODE=1 on_machine "a training that failed is a failure, after the page" "$run" 1 "$first
train_lm 
${first##*$'\n'}"
CODE=0 on_machine "run.sh shows eight layers, the page and a training, and ends with the page's address" "$run" 0 "$first
train_lm 
$last" "isobar: the page: file://$house/runs/report.html"
mkdir "$house/runs/verify" && touch "$house/runs/verify/summary.json"
CODE=0 on_machine "run.sh leaves a training that is there alone, and shows verdicts that are there" "$run" 0 "${first%$'\n'*}
${last/--kept/--kept runs/verify}
${last/--kept/--kept runs/verify}"
CODE=0 on_machine "run.sh --build-only runs nothing" "$run --build-only" 0 ""

((failures == 0)) && echo "run.sh and test.sh: all as promised"
exit $((failures > 0))
