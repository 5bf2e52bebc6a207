"""Landlock (Linux 5.13 on): a process gives up all files but those it names. linux/landlock.h, by number,
since libc has no wrappers."""
import ctypes, os

libc = ctypes.CDLL(None, use_errno=True)
READ = 1 << 0 | 1 << 2 | 1 << 3                       # execute, read a file, list a folder
FILE_ONLY = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 14 | 1 << 15


class Ruleset(ctypes.Structure):
    _fields_ = [("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64)]


class PathRule(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32)]


def version():
    """0 where the kernel has none."""
    return max(0, libc.syscall(444, None, 0, 1))


def lock(readable, writable):
    """From here on this process and its children reach only these paths."""
    every = (1 << {1: 13, 2: 14, 3: 15, 4: 15}.get(version(), 16)) - 1
    rules = Ruleset(every, 3 if version() >= 4 else 0, 3 if version() >= 6 else 0)
    size = 8 if version() < 4 else 16 if version() < 6 else 24
    fd = libc.syscall(444, ctypes.byref(rules), size, 0)
    if fd < 0:
        raise OSError(ctypes.get_errno(), "landlock_create_ruleset")
    for path, rights in [(p, READ) for p in readable] + [(p, every) for p in writable]:
        try:
            parent = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except FileNotFoundError:
            continue
        if path in ("/dev/null", "/dev/zero"):
            rights |= 1 << 1
        if not os.path.isdir(path):
            rights &= FILE_ONLY & every
        rule = PathRule(rights, parent)
        if libc.syscall(445, fd, 1, ctypes.byref(rule), 0):
            raise OSError(ctypes.get_errno(), f"landlock_add_rule {path}")
        os.close(parent)
    libc.prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
    if libc.syscall(446, fd, 0):
        raise OSError(ctypes.get_errno(), "landlock_restrict_self")
    os.close(fd)
