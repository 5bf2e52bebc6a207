// with: reference of a1, names not checked
#include <unistd.h>
struct Sleeper {
  Sleeper() { sleep(100000); }
} sleeper;
