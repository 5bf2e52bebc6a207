#!/bin/sh
# output.sh FILE PROGRAM [OPTION…]: the program's output begins with the lines of FILE, which README.md shows. The terminal
# is 110 columns wide.
set -eu
file=$1
shift
COLUMNS=110 "$@" >output.txt
head -n "$(wc -l <"$file")" output.txt | diff "$file" - || {
  echo "output.sh: $1 prints something else than $file; write it anew, and README.md's block with it" >&2
  exit 1
}
