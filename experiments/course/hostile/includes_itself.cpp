// with: stubs of a1, builds for ever
// Each level includes the next one twice.
#include "a1.cpp"
