// with: reference
#include <cstdlib>
struct Leaver {
  Leaver() { std::exit(0); }
} leaver;
