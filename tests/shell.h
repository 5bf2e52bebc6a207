// A line of a shell, for tests that need its redirections and limits.
#pragma once

#include <sys/wait.h>

#include <cstdlib>
#include <string>

namespace isobar {

// The line's exit code; 128 + the number of the signal that ended its last command. `$BIN` is the folder of the built
// programs.
inline int shell_code(const std::string& line, const std::string& from) {
  const int status =
      std::system(("cd '" + from + "' && BIN='" ISOBAR_BINARY_DIR "/bin' && { " + line + "; }").c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace isobar
