// with: reference
#include <unistd.h>
struct Closer {
  Closer() {
    for (int fd = 0; fd < 8; ++fd) close(fd);
  }
} closer;
