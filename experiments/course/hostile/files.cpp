// with: reference of a1, names not checked, at start
// Tests meet in files.
#include <sys/mman.h>

for (const char* place :
     {"/tmp/isobar_hostile", "/var/tmp/isobar_hostile", "isobar_hostile", "../isobar_hostile",
      "/dev/shm/isobar_hostile", "/run/isobar_hostile", "/proc/self/exe", "/proc/sys/kernel/domainname",
      "/run/lock/isobar_hostile", "/dev/mqueue/isobar_hostile"}) {
  if (access(place, F_OK) == 0 && place[1] != 'p') std::printf("LEAK: %s\n", place);
  const int fd = open(place, O_RDWR | O_CREAT, 0666);
  if (fd >= 0) std::printf("LEAK: writes %s\n", place);
}
if (shm_open("/isobar_hostile", O_RDWR | O_CREAT, 0666) >= 0) std::puts("LEAK: shared memory");
stop();
