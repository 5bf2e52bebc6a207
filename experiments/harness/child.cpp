#include "child.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>

#include "../../core/error.h"

namespace isobar {

Finished run_child(const std::string& program, const std::vector<std::string>& arguments) {
  std::vector<std::string> words{program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  std::array<int, 2> pipe_ends{};  // to read from, to write to
  check(pipe(pipe_ends.data()) == 0, "{}: no pipe for its output: {}", program, std::strerror(errno));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
  for (const int end : pipe_ends) posix_spawn_file_actions_addclose(&actions, end);
  pid_t child = 0;
  const int error = posix_spawn(&child, program.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(pipe_ends[1]);
  check(error == 0, "cannot start {}: {}", program, std::strerror(error));

  Finished finished{};
  std::array<char, 4096> piece{};
  for (ssize_t bytes; (bytes = read(pipe_ends[0], piece.data(), piece.size())) > 0;)
    finished.out.append(piece.data(), static_cast<size_t>(bytes));
  close(pipe_ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  finished.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return finished;
}

std::string own_path() { return std::filesystem::read_symlink("/proc/self/exe"); }

}  // namespace isobar
