// with: stubs of a1, names not checked, at start
// Another program under the driver's name, or a library before all others, for the tests to come.
#include <cstdlib>

char own[4096] = {};
if (readlink("/proc/self/exe", own, sizeof own - 1) < 0) own[0] = 0;
for (const char* path :
     {static_cast<const char*>(own), "/etc/ld.so.preload", "/usr/lib/libisobar_hostile.so"}) {
  if (unlink(path) == 0) std::printf("LEAK: removed %s\n", path);
  if (std::fopen(path, "w") != nullptr) std::printf("LEAK: wrote %s\n", path);
}
if (std::getenv("ISOBAR_HOSTILE") != nullptr) std::puts("LEAK: the environment");
setenv("ISOBAR_HOSTILE", "1", 1);
setenv("LD_PRELOAD", "/tmp/isobar_hostile.so", 1);
stop();
