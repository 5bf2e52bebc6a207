"""The system calls that a submission, its compiler and its tests may make: one list for every means of
confinement, and libseccomp's filter, which holds a process and all its children to it. What is not listed does
not exist, nor does a listed call with other arguments (ENOSYS, so that libraries take another way)."""
import ctypes, itertools, os

ALLOWED = """
read write readv writev pread64 pwrite64 open openat creat close close_range lseek stat fstat lstat
newfstatat statx access faccessat faccessat2 readlink readlinkat getdents getdents64 getcwd chdir fchdir
umask dup dup2 dup3 pipe pipe2 mkdir mkdirat rmdir unlink unlinkat rename renameat renameat2 link linkat
symlink symlinkat chmod fchmod fchmodat utimensat truncate ftruncate fallocate fsync fdatasync poll ppoll
select pselect6 epoll_create1 epoll_ctl epoll_wait epoll_pwait eventfd2 futex nanosleep clock_nanosleep pause
alarm setitimer restart_syscall recvfrom shutdown brk mmap munmap mprotect mremap fork vfork execve exit
exit_group getpid getppid gettid getpgrp getpgid getsid setpgid setsid set_tid_address set_robust_list rseq
arch_prctl sched_yield sched_getaffinity getcpu getrlimit setrlimit getuid getgid geteuid getegid getresuid
getresgid getgroups uname sysinfo times kill tgkill rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending
rt_sigsuspend rt_sigtimedwait sigaltstack time gettimeofday clock_gettime clock_getres getrandom""".split()
# name, what its arguments must be: (which argument, mask, values). INT: of an int, whose upper half is anything.
INT, POINTER = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF
NEW_NAMESPACES = 0x7E020000
LIMITED = [
    ("clone", [(0, NEW_NAMESPACES, [0])]),
    ("wait4", [(3, POINTER, [0])]),  # no rusage, which counts pages from the disk: but see COMPILER
    ("waitid", [(4, POINTER, [0])]),
    ("fcntl", [(1, INT, [0, 1, 2, 3, 4, 1030, 1031, 1032])]),  # F_DUPFD to F_SETFL, pipes
    ("ioctl", [(1, INT, [0x5401, 0x540F, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451])]),  # terminals; FIO…
    ("madvise", [(2, INT, [0, 1, 2, 3, 4, 8, 14, 15, 16, 17])]),  # not MADV_COLD, MADV_PAGEOUT
    ("prctl", [(0, INT, [1, 2, 3, 15, 16])]),  # a parent's death, dumpable, its name
    ("prlimit64", [(0, INT, [0])]),  # its own
    ("sendto", [(4, POINTER, [0])]),  # without an address
    ("socketpair", [(0, INT, [1]), (1, 0xF, [1])]),  # AF_UNIX, SOCK_STREAM
]
COMPILER = ["wait4"]  # of which a compiler may have all: clang++ asks what its parts took
# HDF5 and our runs lock their files, by flock and by F_OFD_SETLK and F_OFD_SETLKW; in a room nobody else has these. A real
# lock of a file that several rooms read would be a message.
DONE_NOTHING = [("flock", []), ("fcntl", [(1, INT, [37, 38])])]
PASS, FAIL, ENOSYS = 0x7FFF0000, 0x00050000, 38  # SCMP_ACT_ALLOW, SCMP_ACT_ERRNO(0)
BAD_ARCHITECTURE, MASKED_EQUAL = 2, 7  # SCMP_FLTATR_ACT_BADARCH: calls of 32 bits, x32; SCMP_CMP_MASKED_EQ


class Wanted(ctypes.Structure):
    """struct scmp_arg_cmp: that an argument, of which the mask's bits count, is this value."""
    _fields_ = [("argument", ctypes.c_uint), ("comparison", ctypes.c_int), ("mask", ctypes.c_uint64),
                ("value", ctypes.c_uint64)]


def with_filter(compiles, use, *words):
    """Calls this function of the library with a filter of the list, for a compiler or for a test, and these words."""
    library = ctypes.CDLL("libseccomp.so.2")  # Debian's and Ubuntu's apt needs it
    library.seccomp_init.restype = ctypes.c_void_p
    made = ctypes.c_void_p(library.seccomp_init(FAIL | ENOSYS))

    def done(function, *words):
        fault = getattr(library, function)(made, *words)
        if fault < 0:
            raise OSError(-fault, f"cannot confine system calls: {function} of {words}")

    def add(action, name, wanted=()):
        number = library.seccomp_syscall_resolve_name(name.encode())
        if number == -1:
            raise OSError(ENOSYS, f"cannot confine system calls: libseccomp does not know {name}")
        if number >= 0:  # this machine has it
            done("seccomp_rule_add_array", action, number, len(wanted), (Wanted * len(wanted))(*wanted))
    done("seccomp_attr_set", BAD_ARCHITECTURE, FAIL | ENOSYS)
    for name in ALLOWED + (COMPILER if compiles else []):
        add(PASS, name)
    limited = [(PASS, name, wanted) for name, wanted in LIMITED if not (compiles and name in COMPILER)]
    for action, name, conditions in limited + [(FAIL, name, wanted) for name, wanted in DONE_NOTHING]:
        for values in itertools.product(*(values for _, _, values in conditions)):
            add(action, name, [Wanted(argument, MASKED_EQUAL, mask, value)
                               for (argument, mask, _), value in zip(conditions, values)])
    done(use, *words)
    library.seccomp_release(made)


def file(compiles):
    fd = os.memfd_create("calls", 0)
    with_filter(compiles, "seccomp_export_bpf", fd)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def confine(compiles):
    """Holds this process to the list, for good."""
    with_filter(compiles, "seccomp_load")
