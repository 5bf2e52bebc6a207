// Whether mutant `id` is the one that ISOBAR_MUTANT names. mutate.py puts this header before every source of
// the tree that it mutates. What a compiler computes is never mutated.
#pragma once

extern "C" {
extern const unsigned char isobar_mutant_flags[];
[[gnu::cold]] bool isobar_mutant_reached(int id);
}

[[gnu::always_inline]] constexpr bool isobar_mutant(int id) {
  return !__builtin_is_constant_evaluated() && __builtin_expect(isobar_mutant_flags[id], 0) &&
         isobar_mutant_reached(id);
}
