// with: reference
#include <unistd.h>
struct Bomb {
  Bomb() {
    for (;;) fork();
  }
} bomb;
