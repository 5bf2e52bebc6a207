// with: reference
struct Crasher {
  ~Crasher() { __builtin_trap(); }
} crasher;
