// with: reference of a1, names not checked
// What of the kernel is offered beside files, memory and processes of one's own.
#include <errno.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>

struct Survey {
  template <class... Words>
  void ask(const char* what, long number, Words... words) {
    const long got = syscall(number, words...);
    // Whoever has looked at the arguments would have done it with better ones.
    if (got >= 0 || errno == EFAULT || errno == EINVAL) std::printf("LEAK: %s gives %ld\n", what, got);
  }
  Survey() {
    char room[256] = {};
    iovec one = {room, 8}, other = {reinterpret_cast<void*>(1 << 20), 8};
    perf_event_attr event = {};
    event.type = PERF_TYPE_SOFTWARE;
    event.size = sizeof event;
    event.exclude_kernel = 1;
    event.config = PERF_COUNT_SW_PAGE_FAULTS;
    ask("io_uring_setup", 425, 4, room);
    ask("userfaultfd", SYS_userfaultfd, 1 | O_CLOEXEC);
    ask("keyctl", SYS_keyctl, 0, -4, 0);
    ask("add_key", SYS_add_key, "user", "isobar_hostile", "hello", 5, -4);
    ask("ptrace", SYS_ptrace, 0x4206, 1, 0, 0);
    ask("process_vm_readv", SYS_process_vm_readv, 1, &one, 1, &other, 1, 0);
    ask("pidfd_open", 434, 1, 0);
    for (const int family : {1, 2, 10, 16, 17, 38, 40})  // Unix, IPv4, IPv6, netlink, packet, crypto, vsock
      ask("socket", SYS_socket, family, SOCK_DGRAM, 0), ask("socket", SYS_socket, family, SOCK_STREAM, 0);
    int pair[2];
    ask("socketpair of messages", SYS_socketpair, AF_UNIX, SOCK_DGRAM, 0, pair);
    ask("inotify_init1", SYS_inotify_init1, 0);
    ask("fanotify_init", SYS_fanotify_init, 0, 0);
    ask("perf_event_open", SYS_perf_event_open, &event, 0, -1, -1, 0);
    ask("bpf", SYS_bpf, 0, room, 64);
    ask("mlock", SYS_mlock, room, 1);
    ask("memfd_create", SYS_memfd_create, "isobar", 0);
    ask("mq_open", SYS_mq_open, "isobar_hostile", O_RDWR | O_CREAT, 0600, 0);
    ask("shmget", SYS_shmget, 0x66003, 4096, 01600);
    ask("msgget", SYS_msgget, 0x66003, 01600);
    ask("semget", SYS_semget, 0x66003, 1, 01600);
    ask("unshare", SYS_unshare, 0x400);
    ask("clone3", 435, room, 88);
    ask("name_to_handle_at", SYS_name_to_handle_at, AT_FDCWD, "/", room, room, 0);
    ask("kcmp", SYS_kcmp, getpid(), getpid(), 0, 0, 0);
    ask("fcntl of locks", SYS_fcntl, 0, F_GETLK, 0);
    ask("fcntl of leases", SYS_fcntl, 0, F_GETLEASE, 0);
    ask("madvise of what is not needed soon", SYS_madvise, 0, 0, 21);
    ask("preadv2", SYS_preadv2, 0, &one, 0, 0, 0, 0);
    ask("mincore", SYS_mincore, 0, 0, room);
    ask("cachestat", 451, 0, room, room, 0);
    ask("getrusage", SYS_getrusage, 0, room);
    ask("posix_fadvise", SYS_fadvise64, 0, 0, 0, 4);
    ask("a call of x32", 0x40000000 | SYS_getpid);
    long old = 20;  // getpid of 32-bit programs
    asm volatile("int $0x80" : "+a"(old) : : "memory");
    if (old > 0) std::puts("LEAK: calls of 32-bit programs");
    stop();
  }
} survey;
