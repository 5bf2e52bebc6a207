#!/bin/bash
# newcomer.sh LAYERS PREFIX FOLDER: in FOLDER, where walk.sh has been, starts TanhExp and ScaleNorm with
# new_layer, sees them fail, writes what LAYERS has for them, at most 80 lines each, and sees them pass. No
# file is edited but by new_layer. Layers of every kind, in files of sensible names, build as they are made
# and fail with a sentence; wrong command lines of new_layer and of check_layers get one. Then new_layer
# starts layers in a copy of the library's own tree, which still compiles.
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

rm -rf kinds && mkdir kinds && cd kinds
new_layer HSwish --pointwise
new_layer --fused GEGLU
new_layer FiLM --inputs 2
new_layer LSTMCell --inputs=3
cmake -B build >log && cmake --build build >>log || fail "what new_layer made does not build: $(cat log)"
! build/check_layers >log || fail "layers without a forward pass"
for kind in HSwish:h_swish GEGLU:geglu FiLM:film LSTMCell:lstm_cell; do
  name=${kind%:*} file=${kind#*:}.h
  [[ -e $file ]] || fail "new_layer $name made no $file"
  grep -q "$name on x .*: WRONG: forward: threw: $name: forward is still to be written, in $file" log || fail "$(cat log)"
done
# With its formula alone, the fused one fails for want of the gradient, in a sentence too.
sed -i '/forward is still/d' geglu.h
cmake --build build >log || fail "$(cat log)"
! build/check_layers GEGLU >log || fail "a fused layer without a gradient passes"
grep -q "GEGLU: the gradient is still to be written, in geglu.h: dx and dweight for dy" log || fail "$(cat log)"
sed -i '/the gradient is still/d' geglu.h
cmake --build build >log || fail "$(cat log)"
build/check_layers GEGLU >log || fail "x · weight, which the skeleton has, is wrong: $(cat log)"

# refuse WANTED COMMAND…: the command exits with 2 and says so.
refuse() {
  local wanted=$1 code=0
  shift
  "$@" >log 2>&1 || code=$?
  [[ $code == 2 ]] && grep -qF -- "$wanted" log || fail "$*: exit code $code, '$(cat log)', wanted '$wanted'"
}
refuse "wanted --pointwise, --fused, --inputs N or --help, got '--fast'" new_layer Mish --fast
refuse "--inputs: wanted 2, 3 or 4, got '1'" new_layer Mish --inputs 1
refuse "--inputs: wanted 2, 3 or 4, got ''" new_layer Mish --inputs
refuse "wanted one of --pointwise, --fused and --inputs, got --fused and --pointwise" new_layer Mish --fused --pointwise
refuse "wanted one name, got 'Mish' and 'Swish'" new_layer Mish Swish
refuse "the name must be a type's, such as Mish or ScaleNorm; got 'mish'" new_layer mish
refuse "wanted --list, --tape, --dot, --help or names of layers, got --tap" build/check_layers --tap
[[ ! -e mish.h ]] || fail "a refused command made a file"
for flag in --help -h; do
  new_layer $flag | grep -q "^new_layer NAME" || fail "new_layer $flag prints no usage"
  build/check_layers $flag | grep -q "^  --tape " || fail "check_layers $flag prints no usage"
done
cd ..

source=$(realpath "$layers/../../..")
rm -rf tree
mkdir tree
for room in core autograd nn tests; do cp -Rs "$source/$room" "tree/$room"; done
cd tree
new_layer TanhExp
new_layer GEGLU --fused
grep -qx '#include "tanh_exp.h"' nn/nn.h || fail "nn.h does not include tanh_exp.h"
grep -qF '{"TanhExp", make<TanhExp>(), normal(6, 7)},' tests/module_table.cpp || fail "the module table has no row for TanhExp"
"${CXX:-c++}" -std=c++20 -march=native -fsyntax-only tests/module_table.cpp || fail "the tree with new layers does not compile"
refuse "the library's own formulas are ops" new_layer HSwish --pointwise
refuse "tests/module_table.cpp has one input x" new_layer FiLM --inputs 2
! new_layer TanhExp 2>log || fail "new_layer wrote over a layer"
grep -qx 'new_layer: nn/tanh_exp.h is there already' log || fail "$(cat log)"
