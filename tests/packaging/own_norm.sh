#!/bin/bash
# own_norm.sh PREFIX FOLDER: a header becomes a contestant of `isobar duel` with the installed library, and
# what its author may get wrong gets a sentence before any run begins.
set -euo pipefail
prefix=$1 here=$2
rm -rf "$here" && mkdir -p "$here" && cd "$here"
unset CMAKE_PREFIX_PATH
export XDG_CACHE_HOME=$here/cache
fail() { echo "$*"; exit 1; }

# refused CODE SAYS WORDS…: isobar duel with these words, short runs and the variable $with.
duel() { env ${with:+"$with"} "$prefix/bin/isobar" duel "$@" --corpus synthetic --tiny >out.txt 2>err.txt; }
refused() {
  local wanted=$1 says=$2 code=0
  shift 2
  duel "$@" || code=$?
  [[ $code == "$wanted" ]] || fail "$*: exit code $code: $(cat err.txt)"
  grep -qF -- "$says" err.txt || fail "$*: wanted '$says', got: $(cat err.txt)"
  [[ ! -e runs/duel/summary.json ]] || fail "$*: a run was made"
}

# norm FILE FORWARD [NAME]: a header with this forward.
norm() {
  local name=${3-ISRU}
  cat >"$1" <<END
#pragma once
#include <isobar/nn/module.h>
struct $name : isobar::Module {
  isobar::Tensor weight;
  explicit $name(const isobar::Shape& width) : weight(isobar::ones(width).set_trainable()) {}
  isobar::Tensor forward(const isobar::Tensor& x) override { $2 }
  void fields(isobar::Fields& f) override { f("weight", weight); }
};
END
}
right='return x / sqrt(square(x) + 1) * weight;'

# What the text shows, before anything is compiled.
norm isru.h "$right"
refused 2 "there is no file 'isr.h'; did you mean isru.h?" isr.h rmsnorm
echo '#pragma once' >empty.h
refused 2 'empty.h: wanted a struct that derives from isobar::Module, found none' empty.h rmsnorm
{ cat isru.h; echo 'struct Other : isobar::Module {};'; } >two.h
refused 2 'two.h: wanted one struct that derives from isobar::Module, found ISRU and Other' rmsnorm two.h
norm same.h "$right"
refused 2 'isru.h and same.h both have a struct ISRU' isru.h same.h
[[ ! -e runs ]] || fail "a folder was made before the headers were read"

# Without CMake, and without a compiler.
with=PATH=/nowhere refused 2 'a header wants CMake 3.25 and a C++20 compiler' isru.h rmsnorm
with=CXX=/nowhere/g++ refused 2 'a header wants a C++20 compiler, and CMake finds none' isru.h rmsnorm

# What the compiler says, with the header as it was named.
norm wrong.h 'return x / sqrt(square(x) + 1) * wieght;' Wrong
refused 2 "wrong.h does not compile; all that the compiler says is in $XDG_CACHE_HOME/isobar/built/" \
  wrong.h rmsnorm
grep -qE '^wrong.h:6:.*error: .*wieght' err.txt || fail "the compiler's lines: $(cat err.txt)"
sed 's/const isobar::Shape& width/double eps/; s/width/{7}/' isru.h >eps.h
refused 2 'eps.h: wanted a norm with forward(x) that is made of its width: a constructor from' eps.h rmsnorm

# What check_layer says: the report, and no run.
norm wrong.h 'isobar::Tensor y;
    { const isobar::NoTape pause; y = x / sqrt(square(x) + 1) * weight; }
    return record("isru", y, {x, weight}, [x = x.detach(), w = weight.detach()](const isobar::Tensor& dy) {
      const isobar::Tensor r = rsqrt(square(x) + 1);
      return std::vector{dy * r * square(r), dy * x * r};
    });' Wrong
sed -i '2i #include <isobar/autograd/tape.h>' wrong.h
refused 1 'WRONG gradient of x (right: weight): missing factor: multiply dy by weight' wrong.h rmsnorm
grep -q 'the duel does not start' err.txt || fail "$(cat err.txt)"
norm wrong.h 'return *static_cast<const isobar::Tensor*>(nullptr) * x;' Wrong
refused 1 'crashed with SIGSEGV' wrong.h rmsnorm

# A norm that is right: it takes part, and is not compiled again. Any name that a file may have will do.
duel isru.h rmsnorm || fail "isru.h: exit code $?: $(cat err.txt)"
grep -qE '^isru.h: compiled in [0-9.]+ s$' err.txt || fail "isru.h: $(cat err.txt)"
grep -q '^ISRU on x \[2, 5, 7\]: right, ' err.txt || fail "isru.h: $(cat err.txt)"
duel 'post.isru.h' isru.h --force || fail "again: exit code $?: $(cat err.txt)"
grep -qE '^isru.h: unchanged since it was compiled$' err.txt || fail "again: $(cat err.txt)"
[[ -z $(find runs -type f -perm /111) ]] || fail "a program is in the folder of results: $(find runs)"

# What a folder of results holds is not run, nor read by CMake, as from an archive that was unpacked over it.
trap=$PWD/trapped
mkdir -p runs/duel/.program/build
for name in duel checker; do
  printf '#!/bin/sh\ntouch %s\n' "$trap" >runs/duel/.program/build/$name
  chmod +x runs/duel/.program/build/$name
done
echo "CMAKE_PROJECT_INCLUDE:STRING=$PWD/runs/duel/.program/trap.cmake" >runs/duel/.program/build/CMakeCache.txt
printf '# Written by isobar duel.\nfile(TOUCH %s)\n' "$trap" | tee runs/duel/.program/{trap.cmake,CMakeLists.txt} >/dev/null
duel isru.h rmsnorm --force || fail "over a folder from elsewhere: exit code $?: $(cat err.txt)"
[[ ! -e $trap ]] || fail "a folder of results had a command run"
grep -q '^isru.h: unchanged' err.txt || fail "compiled for each folder of results: $(cat err.txt)"

mkdir "my n'orms" && norm "my n'orms/a b.h" "$right"
duel "my n'orms/a b.h" "--norm rmsnorm --placement post" --force || fail "a name: $?: $(cat err.txt)"

# A search: a header, then the same file changed, against the version that was kept; and both duels again.
norm isru.h "$right"
duel isru.h rmsnorm --ledger search.toml --max_pairs 9 || fail "a search: exit code $?: $(cat err.txt)"
norm isru.h 'return x / sqrt(square(x) + 2) * weight;'
"$prefix/bin/isobar" duel isru.h --ledger search.toml >out.txt 2>err.txt || fail "its second duel: $?: $(cat err.txt)"
grep -qE '^duel 2 of search.toml: search/2/isru.h is (not )?kept$' out.txt || fail "its second duel: $(cat out.txt)"
"$prefix/bin/isobar" duel --ledger search.toml --check 2 >out.txt 2>err.txt || fail "--check: $?: $(cat err.txt)"
(($(grep -c ': the same to the bit, ' out.txt) == 2)) || fail "--check: $(cat out.txt)"
echo '// changed' >>search/2/isru.h
code=0
"$prefix/bin/isobar" duel --ledger search.toml --check 2 >out.txt 2>err.txt || code=$?
[[ $code == 2 ]] || fail "a changed copy: exit code $code"
grep -qF 'candidate of duel 2, search/2/isru.h, was changed since; restore the file' err.txt || fail "$(cat err.txt)"
