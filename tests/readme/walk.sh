#!/bin/bash
# walk.sh PAGE PREFIX FOLDER: follows the walk of a page in an empty FOLDER, with the library installed in
# PREFIX, and compares what its commands print.
#
#   <!-- file: x.h -->            the next block is this file, old or new
#   <!-- append: x.txt -->        the next block goes to the file's end
#   <!-- row: x.cpp text -->      the next block replaces the last line of the file that holds the text, and those after it
#                                 until its braces are closed
#   <!-- session -->              the next block holds commands ("$ …") and their output; "…" is any output
set -euo pipefail
page=$(realpath "$1") prefix=$2 folder=$3
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"
export PATH=$prefix/bin:$PATH CMAKE_PREFIX_PATH=$prefix
unset COLUMNS  # tables have the width of no terminal
steps=0

fail() { printf '%s: %s\n' "$page" "$*" >&2; exit 1; }

# Replaces the last line of a file that holds the text, and what follows until its braces are closed.
replace() {
  local at end
  at=$(grep -nF -- "$2" "$1" | tail -n 1 | cut -d: -f1)
  [[ $at ]] || fail "$1 has no line with $2"
  end=$(awk -v at="$at" 'NR >= at { open += gsub(/{/, "") - gsub(/}/, ""); if (open <= 0) { print NR; exit } }' "$1")
  printf '%s\n' "$3" >row
  sed -i -e "${end}r row" -e "${at},${end}d" "$1"
  rm row
}

# Runs one command and compares its output. It has to exit with 0, or with 1 where the page shows that a layer
# is WRONG.
compare() {
  local command=$1 wanted=$2 got code=0 wanted_code=0
  [[ $wanted != *WRONG* ]] || wanted_code=1
  got=$(bash -o pipefail -c "$command" 2>&1) || code=$?
  if [[ $wanted != … && $got != "$wanted" ]]; then
    diff <(printf '%s\n' "$wanted") <(printf '%s\n' "$got") >&2 || true
    fail "'$command' prints something else (< the page, > now)"
  fi
  [[ $code == "$wanted_code" ]] || fail "'$command' exits with $code, wanted $wanted_code: $got"
}

session() {
  local command='' output='' line
  while IFS= read -r line; do
    if [[ $line == '$ '* ]]; then
      [[ ! $command ]] || compare "$command" "$output"
      command=${line#'$ '} output=''
    else
      output+=${output:+$'\n'}$line
    fi
  done <<<"$1"
  compare "$command" "$output"
}

kind='' inside='' block=''
while IFS= read -r line; do
  if [[ $inside && $line == '```' ]]; then
    case $kind in
      file) printf '%s\n' "$block" >"$target" ;;
      append) printf '%s\n' "$block" >>"$target" ;;
      row) replace "${target%% *}" "${target#* }" "$block" ;;
      session) session "$block" ;;
    esac
    inside='' kind='' steps=$((steps + 1))
  elif [[ $inside ]]; then
    block+=${block:+$'\n'}$line
  elif [[ $line =~ ^'<!-- '(file|append|row|session)(': '(.*))?' -->'$ ]]; then
    kind=${BASH_REMATCH[1]} target=${BASH_REMATCH[3]}
  elif [[ $kind && $line == '```'* ]]; then
    inside=yes block=''
  fi
done <"$page"
((steps >= 5)) || fail "only $steps steps found"
echo "$steps steps followed"
