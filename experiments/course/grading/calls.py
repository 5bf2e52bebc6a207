"""The system calls that a submission, its compiler and its tests may make: one list for every means of
confinement, and a program of classic BPF (linux/seccomp.h, linux/filter.h) that holds a process and all its
children to it. What is not listed does not exist (ENOSYS, so that libraries take another way); a listed call
with other arguments is not permitted (EPERM)."""
import ctypes, os, struct

# name, number on x86-64, number on aarch64 (- where it has none)
ALLOWED = """
read 0 63, write 1 64, readv 19 65, writev 20 66, pread64 17 67, pwrite64 18 68, open 2 -, openat 257 56,
creat 85 -, close 3 57, close_range 436 436, lseek 8 62, stat 4 -, fstat 5 80, lstat 6 -, newfstatat 262 79,
statx 332 291, access 21 -, faccessat 269 48, faccessat2 439 439, readlink 89 -, readlinkat 267 78, getdents
78 -, getdents64 217 61, getcwd 79 17, chdir 80 49, fchdir 81 50, umask 95 166, dup 32 23, dup2 33 -, dup3 292
24, pipe 22 -, pipe2 293 59, mkdir 83 -, mkdirat 258 34, rmdir 84 -, unlink 87 -, unlinkat 263 35, rename 82
-, renameat 264 38, renameat2 316 276, link 86 -, linkat 265 37, symlink 88 -, symlinkat 266 36, chmod 90 -,
fchmod 91 52, fchmodat 268 53, utimensat 280 88, truncate 76 45, ftruncate 77 46, fallocate 285 47, fsync 74
82, fdatasync 75 83, poll 7 -, ppoll 271 73, select 23 -, pselect6 270 72, epoll_create1 291 20, epoll_ctl 233
21, epoll_wait 232 -, epoll_pwait 281 22, eventfd2 290 19, futex 202 98, nanosleep 35 101, clock_nanosleep 230
115, pause 34 -, alarm 37 -, setitimer 38 103, restart_syscall 219 128, recvfrom 45 207, shutdown 48 210, brk
12 214, mmap 9 222, munmap 11 215, mprotect 10 226, mremap 25 216, fork 57 -, vfork 58 -, execve 59 221, exit
60 93, exit_group 231 94, getpid 39 172, getppid 110 173, gettid 186 178, getpgrp 111 -, getpgid 121 155,
getsid 124 156, setpgid 109 154, setsid 112 157, set_tid_address 218 96, set_robust_list 273 99, rseq 334 293,
arch_prctl 158 -, sched_yield 24 124, sched_getaffinity 204 123, getcpu 309 168, getrlimit 97 163, setrlimit
160 164, getuid 102 174, getgid 104 176, geteuid 107 175, getegid 108 177, getresuid 118 148, getresgid 120
150, getgroups 115 158, uname 63 160, sysinfo 99 179, times 100 153, kill 62 129, tgkill 234 131, rt_sigaction
13 134, rt_sigprocmask 14 135, rt_sigreturn 15 139, rt_sigpending 127 136, rt_sigsuspend 130 133,
rt_sigtimedwait 128 137, sigaltstack 131 132, time 201 -, gettimeofday 96 169, clock_gettime 228 113,
clock_getres 229 114, getrandom 318 278"""
# name, its numbers, what its arguments must be: (half of which argument, mask, values). An argument has two
# halves of 32 bits, the lower one first: half 2 is the lower one of the second argument.
BOTH = 0xFFFFFFFF
NEW_NAMESPACES = 0x7E020000
LIMITED = [
    ("clone", 56, 220, [(0, NEW_NAMESPACES, [0])]),
    ("wait4", 61, 260, [(6, BOTH, [0]), (7, BOTH, [0])]),  # no rusage: it counts pages from the disk
    ("waitid", 247, 95, [(8, BOTH, [0]), (9, BOTH, [0])]),
    ("fcntl", 72, 25, [(2, BOTH, [0, 1, 2, 3, 4, 1030, 1031, 1032])]),  # F_DUPFD to F_SETFL, pipes
    ("ioctl", 16, 29, [(2, BOTH, [0x5401, 0x540F, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451])]),  # terminals; FIO…
    ("madvise", 28, 233, [(4, BOTH, [0, 1, 2, 3, 4, 8, 14, 15, 16, 17])]),  # not MADV_COLD, MADV_PAGEOUT
    ("prctl", 157, 167, [(0, BOTH, [1, 2, 3, 15, 16])]),  # a parent's death, dumpable, its name
    ("prlimit64", 302, 261, [(0, BOTH, [0])]),  # its own
    ("sendto", 44, 206, [(8, BOTH, [0]), (9, BOTH, [0])]),  # without an address
    ("socketpair", 53, 199, [(0, BOTH, [1]), (2, 0xF, [1])]),  # AF_UNIX, SOCK_STREAM
]
DONE_NOTHING = [("flock", 73, 32)]  # HDF5 and our runs lock their files; in a room nobody else has these
MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}  # column, AUDIT_ARCH
LOAD, EQUAL, ATLEAST, AND, RETURN = 0x20, 0x15, 0x35, 0x54, 0x06
PASS, FAIL = 0x7FFF0000, 0x00050000  # SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO | errno
EPERM, ENOSYS = 1, 38


def step(code, value, then=0, otherwise=0):
    return struct.pack("=HBBI", code, then, otherwise, value)


def conditions(wanted):
    """Instructions that let the call pass where each half of an argument has one of its values, or EPERM."""
    steps = []
    for half, mask, values in wanted:
        steps += [step(LOAD, 16 + 4 * half), step(AND, mask)]
        steps += [step(EQUAL, value, then=len(values) - place) for place, value in enumerate(values)]
        steps.append(step(RETURN, FAIL | EPERM))
    return [*steps, step(RETURN, PASS)]


def program(machine=None):
    """The filter's instructions, as struct sock_filter has them, for this machine or another."""
    machine = machine or os.uname().machine
    if machine not in MACHINES:
        raise OSError(f"wanted one of {', '.join(MACHINES)} to confine system calls, got {machine}")
    column, architecture = MACHINES[machine]
    steps = [step(LOAD, 4), step(EQUAL, architecture, then=1), step(RETURN, FAIL | ENOSYS),  # of 32 bits
             step(LOAD, 0), step(ATLEAST, 0x40000000, otherwise=1), step(RETURN, FAIL | ENOSYS)]  # x32
    entries = [(*words.split()[1:], [step(RETURN, PASS)]) for words in ALLOWED.split(",")]
    entries += [(*numbers, conditions(wanted)) for _, *numbers, wanted in LIMITED]
    entries += [(*numbers, [step(RETURN, FAIL)]) for _, *numbers in DONE_NOTHING]
    for *numbers, then in entries:
        if numbers[column] != "-":
            steps += [step(EQUAL, int(numbers[column]), otherwise=len(then)), *then]
    return b"".join([*steps, step(RETURN, FAIL | ENOSYS)])


def file():
    fd = os.memfd_create("calls", 0)
    os.write(fd, program())
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def confine():
    """Holds this process to the list, for good."""
    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("steps", ctypes.c_char_p)]
    libc, steps = ctypes.CDLL(None, use_errno=True), program()
    no_new_privileges, set_seccomp, mode_filter = 38, 22, 2
    if libc.prctl(no_new_privileges, 1, 0, 0, 0) or libc.prctl(
            set_seccomp, mode_filter, ctypes.byref(Program(len(steps) // 8, steps)), 0, 0):
        raise OSError(ctypes.get_errno(), "cannot confine system calls (seccomp)")
