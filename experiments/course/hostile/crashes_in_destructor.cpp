// with: reference of a1
struct Crasher {
  ~Crasher() { __builtin_trap(); }
} crasher;
