#!/bin/bash
# newcomer.sh LAYERS PREFIX FOLDER: in FOLDER, where walk.sh has been, starts Mish and ScaleNorm with new_layer, sees them
# fail, writes what LAYERS has for them, at most 80 lines each, and sees them pass. No file is edited but by new_layer.
# Then new_layer starts one in a copy of the library's own tree, which still compiles.
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

source=$(realpath "$layers/../../..")
rm -rf tree
mkdir tree
for room in core autograd nn tests; do cp -Rs "$source/$room" "tree/$room"; done
cd tree
new_layer Mish
grep -qx '#include "mish.h"' nn/nn.h || fail "nn.h does not include mish.h"
grep -qF '{"Mish", make<Mish>(), normal(4, 5)},' tests/module_table.cpp || fail "the module table has no row for Mish"
"${CXX:-c++}" -std=c++20 -march=native -fsyntax-only tests/module_table.cpp || fail "the tree with Mish does not compile"
! new_layer Mish 2>log || fail "new_layer wrote over a layer"
grep -qx 'new_layer: nn/mish.h is there already' log || fail "$(cat log)"
