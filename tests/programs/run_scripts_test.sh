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
# on_machine COMMAND: runs it with common.sh loaded; leaves $output, $status and $asked (the log).
on_machine() {
  : >"$log"
  output=$(env -u ISOBAR_DATA -u XDG_CACHE_HOME HOME="$machine/home" LOG="$log" MISSING="${missing:-}" \
    USER_ID="${user_id:-0}" PATH="${path:-$machine/bin:$PATH}" bash -c "set -euo pipefail; source .ci/common.sh; $1" 2>&1)
  status=$?
  asked=$(cat "$log")
}
# wants WHAT WANTED GOT
wants() {
  [[ $2 == "$3" ]] && return
  printf '%s\n  wanted: %s\n  got:    %s\n' "$1" "$2" "$3"
  failures=$((failures + 1))
}

tool dpkg-query <<'EOS'
[[ " $MISSING " == *" ${!#} "* ]] && { echo "no packages found matching ${!#}" >&2; exit 1; }
printf installed
EOS
tool apt-get <<'EOS'
echo "apt-get $*" >>"$LOG"
EOS
tool sudo <<'EOS'
echo "sudo" >>"$LOG"
exec "$@"
EOS
tool id <<'EOS'
echo "$USER_ID"
EOS

on_machine 'install_missing $packages'
wants "nothing is missing: nothing is touched" "" "$asked"
wants "nothing is missing: nothing is said" "" "$output"

install="apt-get -q update
apt-get -qy --no-install-recommends install ninja-build libtbb-dev"
missing="libtbb-dev ninja-build" on_machine 'install_missing $packages'
wants "what is missing is installed, and nothing else" "$install" "$asked"
wants "what is missing is named" "isobar: installing Debian packages: ninja-build libtbb-dev" "$output"

user_id=1000 missing="cmake" on_machine 'install_missing $packages'
wants "a user goes through sudo" "sudo
apt-get -q update
sudo
apt-get -qy --no-install-recommends install cmake" "$asked"

rm "$machine/bin/sudo"
without_sudo=$machine/few
mkdir "$without_sudo"
ln -s "$(command -v bash)" "$(command -v cat)" "$without_sudo"
path=$machine/bin:$without_sudo user_id=1000 missing="cmake" on_machine 'install_missing $packages'
wants "a user without sudo is told what to do" \
  "isobar: installing Debian packages: cmake
isobar: neither root nor sudo; as root: apt-get install cmake" "$output"
wants "a user without sudo: exit code" 2 $status
wants "a user without sudo: nothing is touched" "" "$asked"

for script in run.sh test.sh; do
  on_machine "./$script --help"
  wants "$script --help: exit code" 0 $status
  wants "$script --help" "usage: ./$script" "${output%% [*}"
  missing="g++" on_machine "./$script --frobnicate"
  wants "$script refuses what it does not know" "2 " "$status $asked"
done

# run.sh in a copy of its folder, where cmake and the programs are scripts too; isobar verify ends with $CODE.
house=$machine/house
mkdir -p "$house/build/bin" && cp -r run.sh .ci "$house"
tool cmake <<<''
for program in decay_study isobar train_lm; do
  cat >"$house/build/bin/$program" <<'EOS'
#!/bin/bash
echo "${0##*/} $*" >>"$LOG"
case ${0##*/}-$1 in
  train_lm-) folder=runs/train_lm ;;
  isobar-verify) folder=runs/verify ;;
  *) exit 0 ;;
esac
mkdir -p "$folder"; touch "$folder/summary.json"
[[ $1 == verify ]] && exit "$CODE"
exit 0
EOS
  chmod +x "$house/build/bin/$program"
done
before="decay_study --out runs/eight_layers --force
isobar verify --quick --page runs/report.html"
after="isobar report runs/verify runs/train_lm -o runs/report.html"
CODE=0 on_machine "cd '$house' && ./run.sh"
wants "run.sh runs the studies and writes the page" "0 $before
train_lm 
$after" "$status $asked"
wants "run.sh ends with the page's address" "isobar: the page: file://$house/runs/report.html" "${output##*$'\n'}"
CODE=0 on_machine "cd '$house' && ./run.sh"
wants "run.sh leaves a training that is there alone" "0 $before
$after" "$status $asked"
CODE=3 on_machine "cd '$house' && ./run.sh"
wants "a study that cannot run here is no failure" "0 $before
$after" "$status $asked"
CODE=1 on_machine "cd '$house' && ./run.sh"
wants "a study that failed is one, after the page" "1 $before
$after" "$status $asked"
CODE=0 on_machine "cd '$house' && ./run.sh --build-only"
wants "run.sh --build-only runs nothing" "0 " "$status $asked"

((failures == 0)) && echo "the door: all as promised"
exit $((failures > 0))
