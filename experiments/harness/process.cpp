#include "process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <new>
#include <optional>

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

Failure failure_here() {
  try {
    throw;
  } catch (const Diverged& error) {
    return {1, error.what()};
  } catch (const Interrupted& error) {
    return {130, error.what()};
  } catch (const Unavailable& error) {
    return {3, error.what()};
  } catch (const RankLost& error) {
    return {4, error.what()};
  } catch (const std::bad_alloc&) {
    return {2, "out of memory; choose smaller sizes"};
  } catch (const std::exception& error) {
    return {2, error.what()};
  }
}

void throw_again(const Failure& failure) {
  switch (failure.code) {
    case 1:
      throw Diverged(failure.message);
    case 130:
      throw Interrupted(failure.message);
    case 3:
      throw Unavailable(failure.message);
    case 4:
      throw RankLost(failure.message);
    default:
      throw_error(failure.message);
  }
}

int exit_code_of(std::string_view who, std::FILE* err, const std::function<int()>& body) {
  try {
    return body();
  } catch (...) {
    const Failure failure = failure_here();
    complain(err, who, failure.message);
    return failure.code;
  }
}

int exit_code_of_ranks(std::string_view who, std::FILE* err, const std::function<int(Ranks&)>& body) {
  const auto joined_by = [&](Ranks& ranks) {
    try {
      const int code = body(ranks);
      ranks.gather("");  // the first one's results are written
      return code;
    } catch (...) {
      const Failure failure = failure_here();
      const bool together = failure.code != 4 && ranks.end_together();
      if (ranks.first() || !together)
        complain(err, who,
                 together || failure.code == 4 ? failure.message : ranks.name() + ": " + failure.message);
      if (!together) ranks.abort(failure.code);
      return failure.code;
    }
  };
  std::optional<Ranks> ranks;
  try {
    ranks.emplace();
  } catch (const Error& error) {  // every process says so, and one is enough
    if (Ranks::launched_first()) complain(err, who, error.what());
    return 2;
  }
  ranks->when_lost([&](const RankLost& error) {
    complain(err, who, error.what());
    ranks->abort(4);
  });
  return joined_by(*ranks);
}

}  // namespace isobar
