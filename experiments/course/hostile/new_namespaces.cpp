// with: stubs of a1, names not checked, at start
// In a user namespace of its own it would be root, and could mount.
#include <sched.h>
#include <sys/mount.h>

if (unshare(CLONE_NEWUSER) == 0) std::puts("LEAK: a user namespace");
if (mount("none", "/tmp", "tmpfs", 0, nullptr) == 0) std::puts("LEAK: a mount");
if (umount2("/proc", MNT_DETACH) == 0) std::puts("LEAK: /proc is gone");
if (setuid(0) == 0 && chown("/usr", 1, 1) == 0) std::puts("LEAK: root");
stop();
