// with: reference of a0
// Code that runs before the sanitizers begin could write over the settings that they read.
static void early(int, char**, char**) {}
[[gnu::section(".preinit"
               "_array"),
  gnu::used]] static void (*const hook)(int, char**, char**) = early;
