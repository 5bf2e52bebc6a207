#!/bin/bash
# new_layer.sh SOURCE PREFIX FOLDER: wrong command lines of the installed new_layer get a sentence and make no
# file; in a copy of the library's own tree it starts layers, and the tree still compiles.
set -euo pipefail
export PATH=$2/bin:$PATH
rm -rf "$3" && mkdir -p "$3" && cd "$3"
fail() { printf 'new_layer: %s\n' "$*" >&2; exit 1; }
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
refuse "wanted one of --pointwise, --fused and --inputs, got --fused and --pointwise" new_layer A --fused --pointwise
refuse "wanted one name, got 'Mish' and 'Swish'" new_layer Mish Swish
refuse "the name must be a type's, such as Mish or ScaleNorm; got 'mish'" new_layer mish
refuse "the library has a type Tensor already, in core/tensor.h; take another name, such as MyTensor" new_layer Tensor
refuse "the library has a type RMSNorm already, in nn/rms_norm.h" new_layer RMSNorm --inputs 2
[[ ! -e tensor.h && ! -e rms_norm.h && ! -e check_layers.cpp ]] || fail "a refused name made a file"
[[ ! -e mish.h ]] || fail "a refused command made a file"
for flag in --help -h; do
  new_layer $flag | grep -q "^new_layer NAME" || fail "new_layer $flag prints no usage"
done

for room in core autograd nn tests; do cp -Rs "$1/$room" .; done
new_layer TanhExp
new_layer GEGLU --fused
grep -qx '#include "tanh_exp.h"' nn/nn.h || fail "nn.h does not include tanh_exp.h"
grep -qF '{"TanhExp", make<TanhExp>(), normal(6, 7)},' tests/module_table.cpp || fail "no row for TanhExp"
"${CXX:-c++}" -std=c++20 -march=native -fsyntax-only tests/module_table.cpp || fail "it does not compile"
refuse "the library's own formulas are ops" new_layer HSwish --pointwise
refuse "tests/module_table.cpp has one input x" new_layer FiLM --inputs 2
! new_layer TanhExp 2>log || fail "new_layer wrote over a layer"
grep -qx 'new_layer: nn/tanh_exp.h is there already' log || fail "$(cat log)"
