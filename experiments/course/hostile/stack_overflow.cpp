// with: reference of a1
int deeper(volatile int depth) { return depth ? deeper(depth + 1) + depth : 0; }
const int overflown = deeper(1);
