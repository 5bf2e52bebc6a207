#!/bin/bash
# newcomer.sh LAYERS PREFIX FOLDER: in FOLDER, where docs/check followed nn/README.md, starts TanhExp and ScaleNorm with
# new_layer, sees them fail, writes what LAYERS has for them, at most 80 lines each, and sees them pass. No
# file is edited but by new_layer. Layers of every kind, in files of sensible names, build as they are made
# and fail with a sentence; a wrong command line of check_layers gets one.
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

code=0
build/check_layers --tap >log 2>&1 || code=$?
[[ $code == 2 ]] && grep -qF "wanted --list, --tape, --dot, --help or names of layers, got --tap" log ||
  fail "check_layers --tap: exit code $code, $(cat log)"
for flag in --help -h; do
  build/check_layers $flag | grep -q "^  --tape " || fail "check_layers $flag prints no usage"
done
