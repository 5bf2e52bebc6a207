// What the shell makes of a command, for tests.
#pragma once

#include "program.h"

namespace isobar {

inline Outcome run_command(const std::string& command, const std::string& from = ".") {
  const TemporaryFolder folder;
  const std::string out = folder / "out", err = folder / "err";
  const int status = std::system(("cd '" + from + "' && (" + command + ") >" + out + " 2>" + err).c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, file_text(out), file_text(err)};
}

}  // namespace isobar
