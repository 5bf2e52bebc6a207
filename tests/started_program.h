// A built program that runs beside the test, so that the test can send it signals.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "program.h"

namespace isobar {

class StartedProgram {
 public:
  // build/bin/<name> with these words; its stdout and stderr go to `folder`/out and `folder`/err.
  StartedProgram(const std::string& name, std::vector<std::string> words, const TemporaryFolder& folder)
      : out_(folder / "out"), err_(folder / "err") {
    words.insert(words.begin(), std::string(ISOBAR_BINARY_DIR) + "/bin/" + name);
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    for (const auto& [descriptor, path] : {std::pair{1, &out_}, {2, &err_}})
      posix_spawn_file_actions_addopen(&actions, descriptor, path->c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                       0600);
    const int error = posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) throw std::runtime_error("cannot start " + words[0]);
  }
  StartedProgram(const StartedProgram&) = delete;
  StartedProgram& operator=(const StartedProgram&) = delete;
  ~StartedProgram() {
    if (running()) {
      send(SIGKILL);
      wait();
    }
  }

  void send(int signal) const { ::kill(pid_, signal); }
  bool running() {
    if (!ended_) ended_ = ::waitpid(pid_, &status_, WNOHANG) == pid_;
    return !ended_;
  }
  // Waits for the end and returns the exit code, or minus the signal that ended it.
  int wait() {
    if (!ended_) ended_ = ::waitpid(pid_, &status_, 0) == pid_;
    return WIFEXITED(status_) ? WEXITSTATUS(status_) : -WTERMSIG(status_);
  }
  std::string out() const { return file_text(out_); }
  std::string err() const { return file_text(err_); }

 private:
  std::string out_, err_;
  pid_t pid_ = 0;
  int status_ = 0;
  bool ended_ = false;
};

}  // namespace isobar
