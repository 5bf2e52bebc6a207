#include "process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <new>

#include "../../data/utf8_stream.h"

namespace isobar {
namespace {

// OpenBLAS starts a thread for each CPU when it is loaded. Isobar uses none of them, and where address space is short
// (ulimit -v) they try for ever to get their buffers, and the process does not end. Only the environment forbids them.
void start_without_blas_threads(char** argv) {
  rlimit limit{};
  const bool limited = ::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  const char* threads = std::getenv("OPENBLAS_NUM_THREADS");
  if (!limited || (threads != nullptr && std::string_view(threads) == "1")) return;
  ::setenv("OPENBLAS_NUM_THREADS", "1", 1);
  ::execv("/proc/self/exe", argv);  // without /proc it goes on as it is
}

}  // namespace

void begin_process(char** argv) {
  start_without_blas_threads(argv);
  std::signal(SIGXFSZ, SIG_IGN);
  // open() takes the lowest number that is free. The wrong way round, as reading and writing are to fail.
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(stream, F_GETFD) < 0) ::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

void complain(std::FILE* err, std::string_view who, std::string_view message) {
  const std::string line = fmt::format("{}: {}\n", who, one_line(message, longest_message));
  std::fwrite(line.data(), 1, line.size(), err);
}

int exit_code_of(std::string_view who, std::FILE* err, const std::function<int()>& body) {
  const auto fail = [&](const char* message, int code) {
    complain(err, who, message);
    return code;
  };
  try {
    return body();
  } catch (const Diverged& error) {
    return fail(error.what(), 1);
  } catch (const Interrupted& error) {
    return fail(error.what(), 130);
  } catch (const Unavailable& error) {
    return fail(error.what(), 3);
  } catch (const std::bad_alloc&) {
    return fail("out of memory; choose smaller sizes", 2);
  } catch (const std::exception& error) {
    return fail(error.what(), 2);
  }
}

}  // namespace isobar
