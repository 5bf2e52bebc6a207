"""Runs one program that nobody trusts.

What holds, without root: limits on time, memory, processes, files and file sizes; an own session; everything it
starts is killed behind it; Landlock (Linux 5.13 on) leaves it to read the system's libraries and what is named, to
write only where named, and (Linux 6.12 on) to signal no process but its own. With root it also runs as nobody.

What does not: without Landlock, and without root, it can read and write whatever its user may. It can use the
network where Landlock is older than version 4. It shares the kernel: its bugs are not kept from it.
"""
import ctypes, os, resource, signal, tempfile, time
from dataclasses import dataclass

NOBODY = 65534
SYSTEM = ["/usr", "/bin", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/alternatives", "/proc", "/sys/devices/system",
          "/sys/fs/cgroup", "/dev/null", "/dev/zero", "/dev/urandom"]
libc = ctypes.CDLL(None, use_errno=True)


@dataclass
class Limits:
    seconds: float = 10
    memory: int = 2 << 30     # bytes: of address space for each process, of real memory for all
    file_size: int = 16 << 20
    processes: int = 64       # threads count


@dataclass
class Outcome:
    code: int                 # exit code, or −signal
    why: str                  # "" or what limit ended it
    answer: bytes             # what it wrote to file descriptor 3
    output: str               # the end of what it printed
    seconds: float


# --- Landlock: linux/landlock.h, by number, since libc has no wrappers
READ = 1 << 0 | 1 << 2 | 1 << 3                       # execute, read a file, list a folder
FILE_ONLY = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 14 | 1 << 15


class Ruleset(ctypes.Structure):
    _fields_ = [("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64)]


class PathRule(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32)]


def landlock_version():
    """0 where the kernel has none."""
    return max(0, libc.syscall(444, None, 0, 1))


def lock(readable, writable):
    """From here on this process and its children reach only these paths. Does nothing where the kernel cannot."""
    version = landlock_version()
    if version < 1:
        return
    every = (1 << {1: 13, 2: 14, 3: 15, 4: 15}.get(version, 16)) - 1
    rules = Ruleset(every, 3 if version >= 4 else 0, 3 if version >= 6 else 0)
    size = 8 if version < 4 else 16 if version < 6 else 24
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


def describe():
    """What this machine offers, in words for the report."""
    version = landlock_version()
    return ", ".join(["limits"] + (["own user"] if os.geteuid() == 0 else []) +
                     ([f"Landlock {version}"] if version else ["no Landlock: files of this user are within reach"]))


# --- processes
def children(pid):
    found = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children") as f:
                found += map(int, f.read().split())
    except OSError:
        pass  # it has ended meanwhile
    return found


def descendants(pid):
    found = children(pid)
    for child in found:  # grows while it is walked
        found += children(child)
    return found


def resident(pid):
    try:
        with open(f"/proc/{pid}/statm") as f:
            return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0


def tasks_of(uid):
    """Processes and threads of a user: RLIMIT_NPROC counts all of them."""
    count = 0
    for entry in os.listdir("/proc"):
        try:
            if entry.isdigit() and os.stat(f"/proc/{entry}").st_uid == uid:
                count += len(os.listdir(f"/proc/{entry}/task"))
        except OSError:
            pass
    return count


def kill_all(before):
    """Kills and reaps every descendant of this process but those of `before`. They are stopped first, or a fork bomb
    would outrun us."""
    for step in range(200):
        alive = [p for p in descendants(os.getpid()) if p not in before]
        if not alive:
            return
        for sent in (signal.SIGSTOP, signal.SIGKILL):
            for pid in alive:
                try:
                    os.kill(pid, sent)
                except ProcessLookupError:
                    pass
        for pid in alive:
            try:
                os.waitpid(pid, os.WNOHANG if step < 20 else 0)
            except ChildProcessError:
                pass
        time.sleep(0.002 * min(step, 10))


def run(argv, stdin, folder, readable, limits, writable=(), environment=None):
    """Runs argv in `folder`; see the top. Returns an Outcome, whatever the program does."""
    libc.prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER: orphans come to us
    before = set(descendants(os.getpid()))
    user = NOBODY if os.geteuid() == 0 else os.getuid()
    room = tasks_of(user) + limits.processes
    with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as answer, tempfile.TemporaryFile() as output:
        source.write(stdin)
        source.seek(0)
        start = time.monotonic()
        pid = os.fork()
        if pid == 0:
            try:
                become(argv, folder, readable, writable, limits, user, room, environment or {},
                       [source.fileno(), output.fileno(), output.fileno(), answer.fileno()])
            except BaseException as e:
                os.write(2, f"sandbox: {e}".encode())
            os._exit(125)
        status, why = watch(pid, start, limits)
        seconds = time.monotonic() - start
        kill_all(before)
        answer.seek(0)
        data = answer.read(limits.file_size)
        output.seek(0, os.SEEK_END)
        output.seek(max(0, output.tell() - 4000))
        text = output.read().decode(errors="replace")
    code = os.waitstatus_to_exitcode(status)
    why = why or {-signal.SIGXFSZ: f"wrote more than {limits.file_size >> 20} MiB", -signal.SIGXCPU: "too slow",
                  -signal.SIGSEGV: "crashed (segmentation fault or stack overflow)",
                  -signal.SIGABRT: "aborted (an uncaught exception, or no memory)"}.get(code, "")
    return Outcome(code, why, data, text, seconds)


def watch(pid, start, limits):
    """Waits; kills the process when it exceeds its time or its memory. (wait status, why)"""
    why, wait = "", 0.001
    while True:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return status, why
        spent = time.monotonic() - start
        if not why and spent > limits.seconds:
            why = f"not done after {limits.seconds:g} s"
        if not why and spent > 0.2 and sum(map(resident, [pid, *descendants(pid)])) > limits.memory:
            why = f"took more than {limits.memory >> 20} MiB of memory"
        if why:
            os.kill(pid, signal.SIGKILL)
        time.sleep(wait)
        wait = min(0.02, wait * 1.5)


def become(argv, folder, readable, writable, limits, user, room, environment, fds):
    os.setsid()
    for number in (signal.SIGXFSZ, signal.SIGPIPE):  # Python ignores them, and that would be inherited
        signal.signal(number, signal.SIG_DFL)
    for target, fd in enumerate(fds):
        os.dup2(fd, 100 + target)
    for target in range(len(fds)):
        os.dup2(100 + target, target)
    os.closerange(len(fds), 1024)
    os.chdir(folder)
    for limit, value in [(resource.RLIMIT_CPU, int(limits.seconds * 4) + 2), (resource.RLIMIT_FSIZE, limits.file_size),
                         (resource.RLIMIT_AS, limits.memory), (resource.RLIMIT_NPROC, room),
                         (resource.RLIMIT_NOFILE, 128), (resource.RLIMIT_CORE, 0)]:
        resource.setrlimit(limit, (value, value))
    if user != os.getuid():
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)
    lock([*SYSTEM, *readable], writable)
    os.execve(argv[0], argv, {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "OPENBLAS_NUM_THREADS": "1",
                              "OMP_NUM_THREADS": "1", **environment})
