// Runs a built program the way a user does, for tests.
#pragma once

#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "temporary_folder.h"

namespace isobar {

inline std::string file_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

struct Outcome {
  int code;
  std::string out, err;
};

// build/bin/<name> with these arguments, as a shell reads them, called from a folder.
inline Outcome run_built(const std::string& name, const std::string& arguments,
                         const std::string& from = ".") {
  const TemporaryFolder folder;
  const std::string out = folder / "out", err = folder / "err";
  const std::string command = "cd '" + from + "' && " + ISOBAR_BINARY_DIR + "/bin/" + name + " " + arguments +
                              " >" + out + " 2>" + err;
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, file_text(out), file_text(err)};
}

}  // namespace isobar
