#include "run.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <iterator>
#include <sstream>
#include <thread>

#include "skip.h"

namespace isobar {

namespace {

int code_of(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status); }

// Its output is caught, as if it led to no file.
Outcome of_shell(const std::string& command, const std::string& from) {
  const TemporaryFolder folder;
  const std::string out = folder / "out", err = folder / "err",
                    line = "BIN='" ISOBAR_BINARY_DIR "/bin'; cd '" + from + "' && " + command + " >'" + out +
                           "' 2>'" + err + "'";
  const int status = std::system(line.c_str());
  return {code_of(status), file_text(out), file_text(err)};
}

}  // namespace

Outcome run_command(const std::string& line, const std::string& from) {
  return of_shell("{ " + line + "; }", from);
}

Outcome run_built(const std::string& name, const std::string& arguments, const std::string& from) {
  return of_shell("\"$BIN\"/" + name + " " + arguments, from);
}

Outcome ran(const std::string& name, const std::string& arguments, const std::string& from) {
  Outcome run = run_built(name, arguments, from);
  INFO(name, " ", arguments, "\n", run.err);
  REQUIRE(run.code == 0);
  return run;
}

void check_refused(const std::string& name, const std::string& arguments, const std::string& part,
                   const std::string& from) {
  const Outcome run = run_built(name, arguments, from);
  INFO(name, " ", arguments, "\n", run.err);
  CHECK(run.code == 2);
  CHECK(run.out.empty());
  CHECK(run.err.starts_with(name + ": "));
  CHECK(holds(run.err, part));
  CHECK(run.err.find('\n') == run.err.size() - 1);
}

void check_refusals(const std::vector<Refusal>& all, const TemporaryFolder& folder) {
  const std::vector<std::string> before = folder.names();
  for (const auto& [name, arguments, part] : all) check_refused(name, arguments, part, folder.path());
  CHECK(folder.names() == before);
}

nlohmann::json results_in(const std::string& folder) {
  nlohmann::json summary = nlohmann::json::parse(file_text(folder + "/summary.json"));
  for (const char* part : {"timing", "environment"}) summary.erase(part);
  return summary;
}

void browse(const std::string& script, const std::vector<std::string>& words) {
  // Debian's Python has Debian's Selenium.
  std::string command = "PATH=/usr/bin:$PATH; python3 '" ISOBAR_SOURCE_DIR "/tests/" + script + "'";
  for (const std::string& word : words) command += " '" + word + "'";
  const Outcome run = run_command(command);
  if (run.code == 127) return skip("python3 is not installed");
  if (run.code == 77) return skip(run.out.substr(9, run.out.size() - 10));  // "skipped: WHY\n"
  INFO(run.out, run.err);
  CHECK(run.code == 0);
}

StartedProgram::StartedProgram(std::vector<std::string> words, const TemporaryFolder& folder)
    : out_(folder / "out"), err_(folder / "err") {
  words[0].insert(0, ISOBAR_BINARY_DIR "/bin/");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const auto& [descriptor, path] : {std::pair{1, &out_}, {2, &err_}})
    posix_spawn_file_actions_addopen(&actions, descriptor, path->c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const int error = posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::runtime_error("cannot start " + words[0]);
}

StartedProgram::~StartedProgram() {
  send(SIGKILL);
  wait();
}

void StartedProgram::send(int signal) {
  if (running()) ::kill(pid_, signal);
}

bool StartedProgram::running() {
  if (!ended_) ended_ = ::waitpid(pid_, &status_, WNOHANG) == pid_;
  return !ended_;
}

bool StartedProgram::catches(int signal) const {
  const std::string status = file_text("/proc/" + std::to_string(pid_) + "/status");
  const size_t mask = status.find("SigCgt:");
  return mask != std::string::npos &&
         (std::stoull(status.substr(mask + 7), nullptr, 16) >> (signal - 1) & 1) != 0;
}

int StartedProgram::wait() {
  if (!ended_) ended_ = ::waitpid(pid_, &status_, 0) == pid_;
  return code_of(status_);
}

bool wait_until(StartedProgram& program, const std::function<bool()>& there) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(5);
  while (program.running() && std::chrono::steady_clock::now() < end) {
    if (there()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return there();
}

std::vector<std::string> words_in(const std::string& line) {
  std::istringstream stream(line);
  return {std::istream_iterator<std::string>(stream), {}};
}

}  // namespace isobar
