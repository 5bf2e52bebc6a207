#!/bin/bash
# newcomer.sh LAYERS PREFIX FOLDER: in FOLDER, where walk.sh has been, starts Mish and ScaleNorm with new_layer, sees them
# fail, writes what LAYERS has for them, at most 80 lines each, and sees them pass. No file is edited but by new_layer.
set -euo pipefail
layers=$(realpath "$1") prefix=$2
cd "$3"
export PATH=$prefix/bin:$PATH CMAKE_PREFIX_PATH=$prefix

fail() { printf 'newcomer: %s\n' "$*" >&2; exit 1; }

rm -f mish.h scale_norm.h
sed -i -e '/Mish/d' -e '/ScaleNorm/d' -e '/mish.h/d' -e '/scale_norm.h/d' check_layers.cpp
new_layer Mish
new_layer ScaleNorm
cmake --build build --target check_layers >log || fail "what new_layer made does not build: $(cat log)"
! build/check_layers Mish ScaleNorm >log || fail "layers without a forward pass"
for name in Mish ScaleNorm; do
  grep -q "$name on x .*: WRONG: forward: threw: $name: forward is still to be written, in " log || fail "$(cat log)"
done
for file in mish.h scale_norm.h; do
  (($(wc -l <"$layers/$file") <= 80)) || fail "$file has more than 80 lines"
  cp "$layers/$file" .
done
cmake --build build --target check_layers >log || fail "$(cat log)"
build/check_layers Mish ScaleNorm || fail "the layers do not pass"
