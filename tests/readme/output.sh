#!/bin/sh
# output.sh FILE PROGRAM [OPTION…]: the program's output has the lines of FILE, which README.md shows, one after the other. The
# terminal is 110 columns wide.
set -eu
file=$1
shift
COLUMNS=110 "$@" >output.txt
begin=$(grep -nFxm1 -e "$(head -n 1 "$file")" output.txt | cut -d: -f1)
tail -n "+${begin:-1}" output.txt | head -n "$(wc -l <"$file")" | diff "$file" - || {
  echo "output.sh: $1 prints something else than $file; write it anew, and README.md's block with it" >&2
  exit 1
}
