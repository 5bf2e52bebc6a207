// with: reference of a1, at end
__builtin_trap();
