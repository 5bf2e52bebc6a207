// with: reference of a1
#include <unistd.h>
struct Sleeper {
  Sleeper() { sleep(100000); }
} sleeper;
