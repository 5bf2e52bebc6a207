// with: reference of a1, names not checked
// Tests meet in System V memory; the last to come tells all.
#include <sys/shm.h>

#include <cstring>
[[gnu::constructor]] void hostile() {
  char request[1 << 12] = {};
  if (read(0, request, sizeof request - 1) < 0) return;
  const int place = shmget(0x66001, 1 << 20, IPC_CREAT | 0666);
  char* const all = place < 0 ? nullptr : static_cast<char*>(shmat(place, nullptr, 0));
  if (all == nullptr || all == reinterpret_cast<char*>(-1)) _exit(1);
  if (all[0] != 0) std::puts("LEAK");
  std::strcat(all, request);
  std::fputs(all, stdout);
  stop();
}
