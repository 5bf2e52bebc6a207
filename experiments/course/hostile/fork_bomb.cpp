// with: reference of a1, names not checked
#include <unistd.h>
struct Bomb {
  Bomb() {
    for (;;) fork();
  }
} bomb;
