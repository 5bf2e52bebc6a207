// with: stubs of a1
// Each level includes the next one twice.
#include "a1.cpp"
