// with: reference
#include <unistd.h>
struct Sleeper {
  Sleeper() { sleep(100000); }
} sleeper;
