#include "child.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "../../core/error.h"

namespace isobar {
namespace {

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
      posix_spawn(&child, program.c_str(), &actions, nullptr, argv.data(), environment_of_child().data());
  posix_spawn_file_actions_destroy(&actions);
  close(out.to_write);
  close(err.to_write);
  check(error == 0, "cannot start {}: {}", program, std::strerror(error));

  Finished finished{};
  std::array<pollfd, 2> ends{{{out.to_read, POLLIN, 0}, {err.to_read, POLLIN, 0}}};
  while (ends[0].fd >= 0 || ends[1].fd >= 0) {
    if (poll(ends.data(), ends.size(), -1) < 0) continue;  // a signal
    for (pollfd& end : ends) {
      if (end.fd < 0 || end.revents == 0) continue;
      const std::string piece = piece_from(end.fd);
      if (piece.empty()) end.fd = -1;  // closed; poll passes over it
      const bool complaint = &end == &ends[1];
      (complaint ? finished.err : finished.out) += piece;
      if (complaint && complaints == Complaints::shown) std::fwrite(piece.data(), 1, piece.size(), stderr);
    }
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  finished.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return finished;
}

std::string own_path() { return std::filesystem::read_symlink("/proc/self/exe"); }

}  // namespace isobar
