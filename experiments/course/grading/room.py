"""The room a program runs in (README.md): it sees the paths that are named, and writes only where named; it
has no capability. When the room's first process ends, all others of the room end too."""
import shutil
import calls

KERNEL = ["/sys/devices/system", "/sys/fs/cgroup"]  # what processors and how much memory there are
SYSTEM = ["/usr", "/bin", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/alternatives", *KERNEL]
DEVICES = ["/dev/null", "/dev/zero", "/dev/urandom"]


def by_bwrap(argv, folder, system, readable, writable):
    words = ["--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--seccomp",
             str(calls.file()), "--proc", "/proc"]
    for option, paths in (("--ro-bind-try", system), ("--dev-bind-try", DEVICES), ("--ro-bind", readable),
                          ("--bind", writable)):
        for path in paths:
            words += [option, path, path]
    return [shutil.which("bwrap"), *words, "--dir", folder, "--remount-ro", "/", "--chdir", folder, "--",
            *argv]
