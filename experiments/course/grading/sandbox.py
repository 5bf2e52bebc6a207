"""Runs one program that nobody trusts: operating.md, "How a submission is confined". Where it may look is
confined by one of CONFINED; all that it starts is killed after it."""
import ctypes, functools, mmap, os, re, resource, shutil, signal, tempfile, time
from dataclasses import dataclass
import calls

KERNEL = ["/sys/devices/system", "/sys/fs/cgroup"]  # what processors and how much memory there are
SYSTEM = ["/usr", "/bin", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/alternatives", *KERNEL]
DEVICES = ["/dev/null", "/dev/zero", "/dev/urandom"]
NOBODY = 65534
STOPPED = 86  # the exit code by which a sanitizer ends a program; what it printed proves nothing
# The search for leaks needs ptrace.
WATCHED = {"ASAN_OPTIONS": f"detect_leaks=0:exitcode={STOPPED}", "UBSAN_OPTIONS": f"exitcode={STOPPED}"}
LONGEST = 1 << 16  # characters that are kept of what a program prints
libc = ctypes.CDLL(None, use_errno=True)
chosen = "bwrap"  # of CONFINED, by choose()
ENDS = {-signal.SIGXFSZ: "wrote more than it may", -signal.SIGXCPU: "too slow",
        -signal.SIGSEGV: "crashed (segmentation fault or stack overflow)",
        -signal.SIGABRT: "aborted (an uncaught exception, an index outside of an array, or no memory)"}


@dataclass
class Limits:
    seconds: float = 10
    memory: int = 2 << 30     # bytes: of address space for each process, of real memory for all
    address_space: bool = True  # whether that is limited too: AddressSanitizer takes terabytes
    file_size: int = 16 << 20
    disk: int = 256 << 20     # bytes of all files in the writable folders
    processes: int = 64       # threads count


@dataclass
class Outcome:
    code: int                 # exit code, or −signal
    why: str                  # "" or what limit ended it
    answer: bytes             # what it wrote to file descriptor 3
    output: str               # the end of what it printed
    seconds: float


# --- by what
def by_bwrap(argv, folder, system, readable, writable):
    """A room (README.md): it sees the paths that are named, and writes only where named; it has no capability.
    When the room's first process ends, all others of the room end too."""
    words = ["--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--seccomp",
             str(calls.file(system == SYSTEM)), "--proc", "/proc"]
    for option, paths in (("--ro-bind-try", system), ("--dev-bind-try", DEVICES), ("--ro-bind", readable),
                          ("--bind", writable)):
        for path in paths:
            words += [option, path, path]
    return [shutil.which("bwrap"), *words, "--dir", folder, "--remount-ro", "/", "--chdir", folder, "--",
            *argv]


CONFINED = {"bwrap": by_bwrap, "container": None}  # None: whoever has no bubblewrap has a container around the grader


def obstacle(means):
    """Why programs cannot be confined by this here, or None."""
    if means == "container" and os.geteuid():
        return "wanted a grader that runs as root, so that submissions run as nobody"
    if means != "container" and not shutil.which(means):
        return "not installed"
    done = run(["/bin/true"], b"", "/tmp", [], Limits(), means=means)
    return None if done.code == 0 else (done.output.strip().splitlines() or [f"ends with {done.code}"])[-1]


def choose(asked=None):
    """By what programs are confined from here on: what is asked for, "any" that works, else bubblewrap. None,
    or what stands in the way of it."""
    global chosen
    obstacles = []
    for chosen in {None: ["bwrap"], "any": CONFINED}.get(asked, [asked]):
        why = obstacle(chosen)
        if why is None:
            return None
        obstacles.append(f"{chosen}: {why}")
    return "; ".join(obstacles)


def describe():
    how = {"bwrap": "namespaces by bubblewrap (files, processes, network, IPC, users)",
           "container": "the container that the grader runs in; operating.md says what it shows"}
    own = ["own user"] if os.geteuid() == 0 else []
    return ", ".join(["limits", "a list of system calls", *own, how[chosen]])


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


def most_tasks(means, user, limits):
    """RLIMIT_NPROC: Linux 5.14 on counts a room's tasks by themselves, else it counts all of the user."""
    alone = CONFINED[means] and tuple(map(int, re.findall(r"\d+", os.uname().release)[:2])) >= (5, 14)
    return limits.processes + (0 if alone else tasks_of(user))


def kill_all(before):
    """Kills and reaps every descendant of this process but those of `before`. They are stopped first, or a
    fork bomb would outrun us."""
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


@functools.cache
def alone(program):
    """What a program must see beside itself: the files that it is loaded from, and few of the kernel's. Each page
    is touched here as a test would, by its address: read() leaves marks for reading ahead, and the first test
    that touches one counts a fault that no later test does. So by none can a test tell what another has read."""
    done = run(["/usr/bin/ldd", "/usr/bin/prlimit", program], b"", "/tmp", [program], Limits())
    found = set(re.findall(r"(?m)^\t(?:.* => )?(/\S+) \(0x", done.output))
    if not found:
        raise OSError(f"cannot tell what {program} is loaded from: {done.why or done.output.strip()[-300:]}")
    files = [*sorted(path for path in found if os.path.realpath(path).startswith(("/usr/", "/lib"))),
             "/usr/bin/prlimit", "/etc/ld.so.cache"]
    for path in files:
        with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as pages:
            pages[::mmap.PAGESIZE]
    return (*files, *KERNEL)


def run(argv, stdin, folder, readable, limits, writable=(), environment=None, more=(), system=SYSTEM,
        means=None):
    """Runs argv in `folder`: an Outcome, whatever the program does. `more` become its files 4, 5 …"""
    means = means or chosen
    libc.prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER: orphans come to us
    before = set(descendants(os.getpid()))
    user = NOBODY if os.geteuid() == 0 else os.getuid()
    tasks = most_tasks(means, user, limits)
    file = tempfile.TemporaryFile
    with file() as source, file() as answer, file() as output:
        source.write(stdin)
        source.seek(0)
        start = time.monotonic()
        pid = born([source.fileno(), output.fileno(), output.fileno(), answer.fileno(), *more], user, limits,
                   [means, argv, folder, system, readable, writable, environment or {}, tasks])
        try:
            status, why = watch(pid, start, limits, writable)
            seconds = time.monotonic() - start
        finally:
            kill_all(before)
        answer.seek(0)
        data = answer.read(limits.file_size)
        output.seek(0, os.SEEK_END)
        output.seek(max(0, output.tell() - LONGEST))
        text = output.read().decode(errors="replace")
    code = os.waitstatus_to_exitcode(status)
    if CONFINED[means] and code > 128:  # the room's first process says so of a signal
        code = 128 - code
    return Outcome(code, why or ENDS.get(code, ""), data, text, seconds)


def born(fds, user, limits, entrance):
    """A child process that becomes the program, with these file descriptors as 0, 1 …"""
    pid = os.fork()
    if pid == 0:
        try:
            take_files(fds)
            become(user, limits)
            enter(*entrance)
        except BaseException as e:
            os.write(2, f"sandbox: {e}".encode())
        os._exit(125)
    return pid


class Running:
    """A program that goes on, confined, while we talk to it by `fds`. end() ends it."""

    def __init__(self, argv, folder, readable, limits, fds):
        libc.prctl(36, 1, 0, 0, 0)
        self.before = set(descendants(os.getpid()))
        user = NOBODY if os.geteuid() == 0 else os.getuid()
        self.pid = born(fds, user, limits, [chosen, argv, folder, alone(argv[0]), readable, (), {},
                                            most_tasks(chosen, user, limits)])

    def tasks(self):
        return [self.pid, *descendants(self.pid)]

    def end(self):
        kill_all(self.before)


def on_disk(folders):
    taken = 0
    for folder in folders:
        for place, _, names in os.walk(folder):
            for name in names:
                try:
                    taken += os.lstat(os.path.join(place, name)).st_blocks * 512
                except OSError:
                    pass  # it is gone meanwhile
    return taken


def watch(pid, start, limits, writable):
    """Waits; kills the process when it exceeds its time, its memory or its disk. (wait status, why)"""
    why, wait, looked = "", 0.001, 0.0
    while True:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return status, why
        spent = time.monotonic() - start
        if not why and spent > limits.seconds:
            why = f"not done after {limits.seconds:g} s"
        if not why and spent > 0.2 and sum(map(resident, [pid, *descendants(pid)])) > limits.memory:
            why = f"took more than {limits.memory >> 20} MiB of memory"
        if not why and spent > looked + 0.2:
            looked = spent
            if on_disk(writable) > limits.disk:
                why = f"wrote more than {limits.disk >> 20} MiB to the disk"
        if why:
            os.kill(pid, signal.SIGKILL)
        time.sleep(wait)
        wait = min(0.02, wait * 1.5)


def take_files(fds):
    """They become file descriptors 0, 1 …, and no others stay open."""
    for target, fd in enumerate(fds):
        os.dup2(fd, 100 + target)
    for target in range(len(fds)):
        os.dup2(100 + target, target)
    os.closerange(len(fds), 1024)


def become(user, limits):
    os.setsid()
    for number in (signal.SIGXFSZ, signal.SIGPIPE):  # Python ignores them, and that would be inherited
        signal.signal(number, signal.SIG_DFL)
    for limit, value in [
            (resource.RLIMIT_CPU, int(limits.seconds * 4) + 2), (resource.RLIMIT_FSIZE, limits.file_size),
            (resource.RLIMIT_AS, limits.memory if limits.address_space else resource.RLIM_INFINITY),
            (resource.RLIMIT_NOFILE, 128), (resource.RLIMIT_CORE, 0)]:
        resource.setrlimit(limit, (value, value))
    if user != os.getuid():
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)


def enter(means, argv, folder, system, readable, writable, environment, tasks):
    """Confines this process, and becomes the program. In a room the limit on tasks is set inside: outside it
    would count those of other rooms, and their fork bombs would be felt here."""
    if CONFINED[means]:
        argv = CONFINED[means](["/usr/bin/prlimit", f"--nproc={tasks}", "--", *argv], folder, system,
                               readable, writable)
    else:
        os.chdir(folder)
        resource.setrlimit(resource.RLIMIT_NPROC, (tasks, tasks))
        calls.confine(system == SYSTEM)
    os.execve(argv[0], argv, {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8",
                              "OMP_NUM_THREADS": "1", **environment})
