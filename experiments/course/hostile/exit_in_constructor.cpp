// with: reference of a1, names not checked
#include <cstdlib>
struct Leaver {
  Leaver() { std::exit(0); }
} leaver;
