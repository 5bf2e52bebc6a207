// Makes the n-th call of a function fail, in a program that it is loaded into by LD_PRELOAD; failing_calls.py
// uses it.
//
//   FAIL_CALL   write, pwrite, fsync, rename, ftruncate, mmap, close or malloc (which stands for calloc, realloc,
//               aligned_alloc and posix_memalign too)
//   FAIL_N      which call, from 1; 0 counts only
//   FAIL_HOW    EIO or ENOSPC; short: half of the bytes are written, and the rest by the next call
//   FAIL_UNDER  calls on files count below this folder alone; malloc counts from main() on
//   FAIL_LOG    at the end has "calls N"; a line "at LIBRARY" says who asked for the memory that was refused, and "died in
//               LIBRARY" where a signal ended the program: the first frame that is not of libc, libstdc++ or this file

#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace {

struct Plan {
  const char *call, *how, *under, *log;
  long n;
};
Plan plan{};
std::atomic<long> calls{0};
std::atomic<bool> in_main{false};
thread_local bool inside = false;  // its own calls do not count

template <class F>
F* next(const char* name, F*) {
  return reinterpret_cast<F*>(::dlsym(RTLD_NEXT, name));
}

void note(const char* what, const char* which) {
  if (plan.log == nullptr) return;
  const bool was = std::exchange(inside, true);
  char line[PATH_MAX + 64];
  const int length = std::snprintf(line, sizeof line, "%s %s\n", what, which);
  const int file = ::open(plan.log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file >= 0) {
    [[maybe_unused]] const ssize_t written = ::write(file, line, static_cast<size_t>(length));
    ::close(file);
  }
  inside = was;
}

// The file name of the first frame that is not of the runtime.
const char* guilty() {
  void* frames[64];
  const int count = ::backtrace(frames, 64);
  Dl_info mine{};
  ::dladdr(reinterpret_cast<void*>(&guilty), &mine);
  for (int i = 0; i < count; ++i) {
    Dl_info info{};
    if (::dladdr(frames[i], &info) == 0 || info.dli_fname == nullptr || info.dli_fbase == mine.dli_fbase)
      continue;
    const char* slash = std::strrchr(info.dli_fname, '/');
    const char* name = slash == nullptr ? info.dli_fname : slash + 1;
    bool runtime = false;
    for (const char* one : {"libc.so", "libstdc++.so", "libgcc_s.so", "libm.so", "ld-linux"})
      runtime |= std::strncmp(name, one, std::strlen(one)) == 0;
    if (!runtime) return name;
  }
  return "?";
}

void die(int signal) {
  inside = true;
  note("died in", guilty());
  std::signal(signal, SIG_DFL);
  ::raise(signal);
}

// Whether this call is to fail.
bool fails(const char* call) {
  if (plan.call == nullptr || inside || std::strcmp(call, plan.call) != 0) return false;
  if (++calls != plan.n) return false;
  inside = true;
  note("at", guilty());
  inside = false;
  return true;
}

bool below(const char* path) {
  return plan.under != nullptr && std::strncmp(path, plan.under, std::strlen(plan.under)) == 0;
}

bool below(int file) {
  if (plan.under == nullptr || inside) return false;
  char link[64], path[PATH_MAX];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  const ssize_t length = ::readlink(link, path, sizeof path - 1);
  if (length < 0) return false;
  path[length] = '\0';
  return below(path);
}

bool is_short() { return std::strcmp(plan.how, "short") == 0; }
int reason() { return std::strcmp(plan.how, "ENOSPC") == 0 ? ENOSPC : EIO; }

// -1 with errno.
int failure() {
  errno = reason();
  return -1;
}

// `write_some` writes so many bytes.
template <class Write>
ssize_t write_or_fail(const char* call, int file, size_t count, const Write& write_some) {
  if (!below(file) || !fails(call)) return write_some(count);
  return is_short() && count > 1 ? write_some(count / 2) : failure();
}

bool no_memory() {
  if (!in_main || !fails("malloc")) return false;
  errno = ENOMEM;
  return true;
}

int (*real_main)(int, char**, char**);
int armed_main(int argc, char** argv, char** environment) {
  guilty();  // backtrace() loads a library in its first call
  for (const int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE}) std::signal(signal, die);
  in_main = true;
  return real_main(argc, argv, environment);
}

[[gnu::constructor]] void read_plan() {
  const char* n = std::getenv("FAIL_N");
  const char* how = std::getenv("FAIL_HOW");
  plan = {std::getenv("FAIL_CALL"), how == nullptr ? "EIO" : how, std::getenv("FAIL_UNDER"),
          std::getenv("FAIL_LOG"), n == nullptr ? 0 : std::atol(n)};
}

[[gnu::destructor]] void tell() {
  in_main = false;
  char text[32];
  std::snprintf(text, sizeof text, "%ld", calls.load());
  note("calls", text);
}

}  // namespace

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);

void* malloc(size_t size) { return no_memory() ? nullptr : __libc_malloc(size); }
void* calloc(size_t count, size_t size) { return no_memory() ? nullptr : __libc_calloc(count, size); }
void* realloc(void* block, size_t size) { return no_memory() ? nullptr : __libc_realloc(block, size); }
void* aligned_alloc(size_t alignment, size_t size) {
  return no_memory() ? nullptr : __libc_memalign(alignment, size);
}
int posix_memalign(void** block, size_t alignment, size_t size) {
  if (no_memory()) return ENOMEM;
  *block = __libc_memalign(alignment, size);
  return *block == nullptr ? ENOMEM : 0;
}

ssize_t write(int file, const void* bytes, size_t count) {
  static auto* const real = next("write", &write);
  return write_or_fail("write", file, count, [&](size_t some) { return real(file, bytes, some); });
}
ssize_t pwrite(int file, const void* bytes, size_t count, off_t at) {
  static auto* const real = next("pwrite", &pwrite);
  return write_or_fail("pwrite", file, count, [&](size_t some) { return real(file, bytes, some, at); });
}
ssize_t pwrite64(int file, const void* bytes, size_t count, off64_t at) {
  return pwrite(file, bytes, count, at);
}
// What stdio writes, by which run.log is written.
size_t fwrite(const void* bytes, size_t size, size_t count, FILE* stream) {
  static auto* const real = next("fwrite", &fwrite);
  if (!below(::fileno(stream)) || !fails("write")) return real(bytes, size, count, stream);
  failure();
  return 0;
}
int fsync(int file) {
  static auto* const real = next("fsync", &fsync);
  return below(file) && fails("fsync") ? failure() : real(file);
}
int rename(const char* from, const char* to) noexcept {
  static auto* const real = next("rename", &rename);
  return below(to) && fails("rename") ? failure() : real(from, to);
}
int ftruncate(int file, off_t size) noexcept {
  static auto* const real = next("ftruncate", &ftruncate);
  return below(file) && fails("ftruncate") ? failure() : real(file, size);
}
int ftruncate64(int file, off64_t size) noexcept { return ftruncate(file, size); }
int posix_fallocate(int file, off_t from, off_t size) {
  static auto* const real = next("posix_fallocate", &posix_fallocate);
  return below(file) && fails("ftruncate") ? reason() : real(file, from, size);
}
int posix_fallocate64(int file, off64_t from, off64_t size) { return posix_fallocate(file, from, size); }
void* mmap(void* at, size_t size, int protection, int flags, int file, off_t offset) noexcept {
  static auto* const real = next("mmap", &mmap);
  if (!in_main || !fails("mmap")) return real(at, size, protection, flags, file, offset);
  errno = ENOMEM;
  return MAP_FAILED;
}
void* mmap64(void* at, size_t size, int protection, int flags, int file, off64_t offset) noexcept {
  return mmap(at, size, protection, flags, file, offset);
}
int close(int file) {
  static auto* const real = next("close", &close);
  const bool failing = below(file) && fails("close");
  const int result = real(file);
  return failing ? failure() : result;
}

int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, void (*init)(), void (*fini)(),
                      void (*rtld_fini)(), void* stack_end) {
  static auto* const real = next("__libc_start_main", &__libc_start_main);
  real_main = main;
  return real(armed_main, argc, argv, init, fini, rtld_fini, stack_end);
}
}
