#!/bin/sh
# unpack.sh SOURCE TREE README…: makes TREE a copy of SOURCE (as links) in which the READMEs' steps have been
# followed.
#
#   <!-- file: nn/x.h -->                       the next ```cpp block is this new file
#   <!-- line: nn/nn.h after: layer_norm.h -->  the next block goes after the first line that holds the text
set -eu
source=$1 tree=$2
shift 2
rm -rf "$tree"
mkdir -p "$tree"
for room in core autograd nn optim data experiments tests; do cp -Rs "$source/$room" "$tree/$room"; done

awk -v tree="$tree" '
  function fail(why) { print FILENAME ": " why > "/dev/stderr"; failed = 1; exit 1 }
  function lines_of(path,   line, text) {
    while ((getline line < path) > 0) text = text line "\n"
    close(path)
    return text
  }
  function write(path, text,   folder) {
    folder = path
    sub(/\/[^\/]*$/, "", folder)
    system("mkdir -p \"" folder "\"")
    printf "%s", text > path
    close(path)
  }
  # After the first line of the file that holds the anchor.
  function insert(path, anchor, text,   old, at, end) {
    old = lines_of(path)
    at = index(old, anchor)
    if (!at) fail("no line of " path " holds " anchor)
    end = at + index(substr(old, at), "\n") - 1
    system("rm -f \"" path "\"")  # the link, not what it leads to
    write(path, substr(old, 1, end) text substr(old, end + 1))
  }
  /^<!-- file: / { kind = "file"; path = tree "/" $3; next }
  /^<!-- line: / { kind = "line"; path = tree "/" $3; anchor = $0; sub(/.* after: /, "", anchor); sub(/ -->$/, "", anchor); next }
  /^```cpp/ && kind { inside = 1; text = ""; next }
  /^```$/ && inside {
    if (kind == "line") insert(path, anchor, text)
    else if ((getline line < path) > 0) fail(path " is there already")
    else write(path, text)
    inside = 0; kind = ""; steps++
    next
  }
  inside { text = text $0 "\n" }
  END { if (!failed && steps < 9) fail("only " steps " steps found"); exit failed }
' "$@"
