#include "process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <array>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <mutex>
#include <new>

#include "../../data/utf8_stream.h"

namespace isobar {
namespace {

constexpr const char* out_of_memory = "out of memory; choose smaller sizes";

// Where no exception can pass, in a destructor or a thread, memory may end too: the same line and exit code
// as anywhere else, without memory. Where a library ends the process with an unknown exception (libstdc++
// does in noexcept functions), a line says this much.
[[noreturn]] void end_without_memory() {
  try {
    if (const std::exception_ptr error = std::current_exception()) std::rethrow_exception(error);
    std::fprintf(stderr, "%s: a mistake in it: it was ended where no error can be passed on\n",
                 program_invocation_short_name);
  } catch (const std::bad_alloc&) {
    const char* const name = program_invocation_short_name;
    for (const char* const text : {name, ": ", out_of_memory, "\n"})
      [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text, std::strlen(text));
    ::_exit(2);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: a mistake in it: an error where none can be passed on: %s\n",
                 program_invocation_short_name, error.what());
  } catch (...) {
  }
  std::abort();
}

// Before main(), whose own objects take memory too.
[[maybe_unused]] const std::terminate_handler handler_before = std::set_terminate(end_without_memory);

constexpr int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1};
constexpr size_t signal_count = std::size(signals);

volatile std::sig_atomic_t asked = 0;
std::string_view said;  // at the first signal
struct sigaction before[signal_count];

// From here on the signals do what they do by default: end the process.
void ask(int) {
  const int error = errno;
  asked = 1;
  for (size_t i = 0; i < signal_count; ++i)
    if (before[i].sa_handler != SIG_IGN) std::signal(signals[i], SIG_DFL);
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, said.data(), said.size());
  errno = error;
}

// Both ends are closed in children, but for what they are given as stdout and stderr.
struct Pipe {
  int to_read, to_write;

  explicit Pipe(const std::string& program) {
    std::array<int, 2> ends{};
    check(pipe2(ends.data(), O_CLOEXEC) == 0, "{}: no pipe for its output: {}", program,
          std::strerror(errno));
    to_read = ends[0];
    to_write = ends[1];
  }
  Pipe(const Pipe&) = delete;
  ~Pipe() { close(to_read); }
};

// What is there to read; empty at the end.
std::string piece_from(int end) {
  std::string piece(4096, '\0');
  ssize_t bytes = -1;
  do bytes = read(end, piece.data(), piece.size());
  while (bytes < 0 && errno == EINTR);
  piece.resize(bytes < 0 ? 0 : static_cast<size_t>(bytes));
  return piece;
}

// What a child writes to these ends of pipes, and how it ends. `shown`: its complaints go on to stderr as they
// come.
Finished finish_of(pid_t child, int out, int err, bool shown) {
  Finished finished{};
  std::array<pollfd, 2> ends{{{out, POLLIN, 0}, {err, POLLIN, 0}}};
  while (ends[0].fd >= 0 || ends[1].fd >= 0) {
    if (poll(ends.data(), ends.size(), -1) < 0) continue;  // a signal
    for (pollfd& end : ends) {
      if (end.fd < 0 || end.revents == 0) continue;
      const std::string piece = piece_from(end.fd);
      if (piece.empty()) end.fd = -1;  // closed; poll passes over it
      const bool complaint = &end == &ends[1];
      (complaint ? finished.err : finished.out) += piece;
      if (complaint && shown) std::fwrite(piece.data(), 1, piece.size(), stderr);
    }
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  finished.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return finished;
}

void write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) ::_exit(1);
    if (written > 0) bytes.remove_prefix(static_cast<size_t>(written));
  }
}

// Ours but for what a launcher of ranks told us: the child is no rank.
std::vector<char*> environment_of_child() {
  std::vector<char*> all;
  for (char** one = environ; *one != nullptr; ++one) {
    const std::string_view name = *one;
    if (!name.starts_with("OMPI_") && !name.starts_with("PMIX_") && !name.starts_with("PMI_"))
      all.push_back(*one);
  }
  all.push_back(nullptr);
  return all;
}

}  // namespace

void begin_process() {
  std::signal(SIGXFSZ, SIG_IGN);
  // open() takes the lowest number that is free. The wrong way round, as reading and writing are to fail.
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(stream, F_GETFD) < 0) ::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

void complain(std::FILE* err, std::string_view who, std::string_view message) {
  if (err == nullptr) return;
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
    return {2, out_of_memory};
  } catch (const std::exception& error) {
    return {2, error.what()};
  }
}

void throw_again(const Failure& failure) {
  if (failure.code == 1) throw Diverged(failure.message);
  if (failure.code == 130) throw Interrupted(failure.message);
  if (failure.code == 3) throw Unavailable(failure.message);
  if (failure.code == 4) throw RankLost(failure.message);
  throw_error(failure.message);
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

namespace {

// Ends the process where what it guards takes too long: a message-passing library waits for ever for a
// process that is stopped before all have met, or while they take leave. The first rank complains; should it
// be the one, the second does. They wait a little longer than Ranks, which can tell who is silent.
class Deadline {
 public:
  Deadline(std::string_view who, std::FILE* err, double seconds, const std::string& message) {
    if (!Ranks::launched()) return;
    watch_ = std::jthread([=, who = std::string(who)](const std::stop_token& over) {
      using Clock = std::chrono::steady_clock;
      const int rank = Ranks::launched_rank();
      const std::chrono::duration<double> patience(seconds + (rank == 0 ? 1 : 2.7));
      std::mutex mutex;
      std::unique_lock lock(mutex);
      std::condition_variable_any asleep;
      Clock::time_point from;
      do {  // anew where this process itself was stopped
        from = Clock::now();
        asleep.wait_for(lock, over, patience, [] { return false; });
        if (over.stop_requested()) return;
      } while (Clock::now() - from > patience + std::chrono::seconds(1));
      complain(rank <= 1 ? err : nullptr, who,
               fmt::format("{} within {:g} s; is one of them stopped?", message, seconds));
      ::_exit(4);
    });
  }

 private:
  std::jthread watch_;
};

// Whether all fail alike, this one may tell: else it fails alone, and takes the others along.
int end_of_rank(std::string_view who, std::FILE* err, Ranks& ranks, const Failure& failure) {
  if (failure.code != 4 && ranks.end_together()) {
    if (ranks.first()) complain(err, who, failure.message);
    return failure.code;
  }
  complain(err, who, failure.code == 4 ? failure.message : ranks.name() + ": " + failure.message);
  ranks.abort(failure.code);
  return failure.code;
}

}  // namespace

int exit_code_of_ranks(std::string_view who, std::FILE* err, double timeout,
                       const std::function<int(Ranks&)>& body) {
  std::optional<Ranks> ranks;
  // Where it fails every process says so: who has a launcher's variable without one is alone with it.
  int code = exit_code_of(who, err, [&] {
    const Deadline meeting(who, err, timeout, "not all ranks have met");
    ranks.emplace(timeout);
    return 0;
  });
  if (!ranks) return code;
  ranks->on_lost([&](const RankLost& error) {
    complain(err, who, error.what());
    ranks->abort(4);
  });
  try {
    code = body(*ranks);
    ranks->gather("");  // the first one's results are written
  } catch (...) {
    code = end_of_rank(who, err, *ranks, failure_here());
  }
  const Deadline leaving(who, err, timeout, "not all ranks have left");
  ranks.reset();
  return code;
}

std::string by_first(Ranks& ranks, const std::function<std::string()>& text) {
  std::string answer, failure;
  if (ranks.first()) try {
      answer = text();
    } catch (const Error& error) {
      if (ranks.size() == 1) throw;
      failure = error.what();
    }
  answer = ranks.gather(failure.empty() ? "+" + answer : "-" + failure)[0];
  check(answer[0] == '+', "{}", answer.substr(1));
  return answer.substr(1);
}

Interrupt::Interrupt(const char* notice) {
  asked = 0;
  said = notice;
  struct sigaction action {};
  action.sa_handler = ask;
  action.sa_flags = SA_RESTART;
  for (size_t i = 0; i < signal_count; ++i) {
    ::sigaction(signals[i], nullptr, &before[i]);
    if (before[i].sa_handler != SIG_IGN) ::sigaction(signals[i], &action, nullptr);
  }
}

Interrupt::~Interrupt() {
  for (size_t i = 0; i < signal_count; ++i) ::sigaction(signals[i], &before[i], nullptr);
}

bool Interrupt::requested() const { return asked != 0; }

Finished run_child(const std::string& program, const std::vector<std::string>& arguments,
                   Complaints complaints) {
  std::vector<std::string> words{program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  const Pipe out(program), err(program);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, out.to_write, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err.to_write, STDERR_FILENO);
  pid_t child = 0;
  const int error =
      posix_spawnp(&child, program.c_str(), &actions, nullptr, argv.data(), environment_of_child().data());
  posix_spawn_file_actions_destroy(&actions);
  close(out.to_write);
  close(err.to_write);
  check(error == 0, "cannot start {}: {}", program, std::strerror(error));

  return finish_of(child, out.to_read, err.to_read, complaints == Complaints::shown);
}

Finished run_apart(const std::function<std::string()>& body) {
  const Pipe out("a child process");
  const pid_t child = ::fork();
  check(child >= 0, "cannot start a child process: {}", std::strerror(errno));
  if (child == 0) try {
      write_all(out.to_write, body());
      ::_exit(0);
    } catch (...) {
      ::_exit(1);
    }
  close(out.to_write);
  return finish_of(child, out.to_read, -1, false);
}

void become(const std::string& path, std::vector<std::string> words) {
  words.insert(words.begin(), path);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  execv(argv[0], argv.data());
  throw_error(fmt::format("cannot start {}: {}", path, std::strerror(errno)));
}

std::string own_path() { return std::filesystem::read_symlink("/proc/self/exe"); }

}  // namespace isobar
