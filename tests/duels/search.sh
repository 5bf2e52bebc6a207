#!/usr/bin/env bash
# The worked example of duel/README.md: a search for a better norm in a family of one constant, tanh(c x) w. The champion that
# it begins with has c = 0.5; eight other constants are next to it, and RMSNorm is among the candidates, as the fifth.
# Expected, before the first run: no constant is better, RMSNorm is, and the constants after it are worse than RMSNorm.
#
#   tests/duels/search.sh build/bin/isobar     writes search.toml beside this file; goes on where it was stopped
set -euo pipefail
isobar=$(realpath "$1")
cd "$(dirname "$0")"
champion=("tanh(0.5 * x) * w" --max_pairs 60)
for candidate in "tanh(0.4 * x) * w" "tanh(0.45 * x) * w" "tanh(0.48 * x) * w" "tanh(0.52 * x) * w" rmsnorm \
  "tanh(0.55 * x) * w" "tanh(0.6 * x) * w" "tanh(0.65 * x) * w" "tanh(0.7 * x) * w"; do
  grep -qF "\"$candidate\"" search.toml 2>/dev/null && continue
  "$isobar" duel "$candidate" "${champion[@]}" --ledger search.toml
  champion=()
done
