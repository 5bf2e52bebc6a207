// Child processes: programs that run others, and measure them.
#pragma once

#include <string>
#include <vector>

namespace isobar {

struct Finished {
  int code;         // exit code; 128 + number of the signal that ended it
  std::string out;  // what it wrote to stdout
  std::string err;  // and to stderr
};

// Whether a child's stderr goes on to ours as it comes, or is kept alone.
enum class Complaints { shown, kept };

// Runs a program with these arguments and waits for its end. Throws Error when it cannot be started.
Finished run_child(const std::string& program, const std::vector<std::string>& arguments,
                   Complaints complaints = Complaints::shown);

// The path of this very program.
std::string own_path();

}  // namespace isobar
