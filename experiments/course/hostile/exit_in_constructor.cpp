// with: reference of a1
#include <cstdlib>
struct Leaver {
  Leaver() { std::exit(0); }
} leaver;
