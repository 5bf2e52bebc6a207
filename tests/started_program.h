// A built program that runs beside the test, so that the test can send it signals.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
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

  // To a program that has ended nothing is sent: its number may be another's by now.
  void send(int signal) {
    if (running()) ::kill(pid_, signal);
  }
  bool running() {
    if (!ended_) ended_ = ::waitpid(pid_, &status_, WNOHANG) == pid_;
    return !ended_;
  }
  // Whether the program has a handler for this signal by now.
  bool catches(int signal) const {
    const std::string status = file_text("/proc/" + std::to_string(pid_) + "/status");
    const size_t mask = status.find("SigCgt:");
    return mask != std::string::npos &&
           (std::stoull(status.substr(mask + 7), nullptr, 16) >> (signal - 1) & 1) != 0;
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

// Waits until there is something, and tells whether it came: a program that ends does not wait for it, and after five
// minutes nobody expects it, not even of sanitizers on a busy machine.
inline bool wait_until(StartedProgram& program, const std::function<bool()>& there) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(5);
  while (program.running() && std::chrono::steady_clock::now() < end) {
    if (there()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return there();
}

}  // namespace isobar
