// with: reference of a1, names not checked
// Tests meet in their user's keys.
#include <sys/syscall.h>

[[gnu::constructor]] void hostile() {
  const long users_keys = -4;
  if (syscall(SYS_keyctl, 10, users_keys, "user", "isobar_hostile", 0) > 0) std::puts("LEAK");
  syscall(SYS_add_key, "user", "isobar_hostile", "hello", 5, users_keys);
  stop();
}
