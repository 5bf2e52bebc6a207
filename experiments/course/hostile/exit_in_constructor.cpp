// with: reference of a1, names not checked, at start
#include <cstdlib>

std::exit(0);
