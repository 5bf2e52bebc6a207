// with: reference of a1, names not checked
#include <unistd.h>
struct Closer {
  Closer() {
    for (int fd = 0; fd < 8; ++fd) close(fd);
  }
} closer;
