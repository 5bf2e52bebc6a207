#!/bin/bash
# newcomer.sh LAYERS PREFIX FOLDER: in FOLDER, where walk.sh has been, starts TanhExp and ScaleNorm with new_layer, sees them
# fail, writes what LAYERS has for them, at most 80 lines each, and sees them pass. No file is edited but by new_layer.
# Then new_layer starts one in a copy of the library's own tree, which still compiles.
set -euo pipefail
layers=$(realpath "$1") prefix=$2
cd "$3"
export PATH=$prefix/bin:$PATH CMAKE_PREFIX_PATH=$prefix

fail() { printf 'newcomer: %s\n' "$*" >&2; exit 1; }

rm -f tanh_exp.h scale_norm.h
sed -i -e '/TanhExp/d' -e '/ScaleNorm/d' -e '/tanh_exp.h/d' -e '/scale_norm.h/d' check_layers.cpp
new_layer TanhExp
new_layer ScaleNorm
cmake --build build --target check_layers >log || fail "what new_layer made does not build: $(cat log)"
! build/check_layers TanhExp ScaleNorm >log || fail "layers without a forward pass"
for name in TanhExp ScaleNorm; do
  grep -q "$name on x .*: WRONG: forward: threw: $name: forward is still to be written, in " log || fail "$(cat log)"
done
for file in tanh_exp.h scale_norm.h; do
  (($(wc -l <"$layers/$file") <= 80)) || fail "$file has more than 80 lines"
  cp "$layers/$file" .
done
cmake --build build --target check_layers >log || fail "$(cat log)"
build/check_layers TanhExp ScaleNorm || fail "the layers do not pass"

source=$(realpath "$layers/../../..")
rm -rf tree
mkdir tree
for room in core autograd nn tests; do cp -Rs "$source/$room" "tree/$room"; done
cd tree
new_layer TanhExp
grep -qx '#include "tanh_exp.h"' nn/nn.h || fail "nn.h does not include tanh_exp.h"
grep -qF '{"TanhExp", make<TanhExp>(), normal(4, 5)},' tests/module_table.cpp || fail "the module table has no row for TanhExp"
"${CXX:-c++}" -std=c++20 -march=native -fsyntax-only tests/module_table.cpp || fail "the tree with TanhExp does not compile"
! new_layer TanhExp 2>log || fail "new_layer wrote over a layer"
grep -qx 'new_layer: nn/tanh_exp.h is there already' log || fail "$(cat log)"
