// with: reference of a1
[[gnu::destructor]] void hostile() { __builtin_trap(); }
