// with: reference of a1, names not checked
#include <cstdlib>
[[gnu::constructor]] void hostile() { std::exit(0); }
