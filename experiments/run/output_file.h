// The file that a user names for a program to write, with -o.
//
//   check_output(line.output, {.force = line.force, .inputs = {line.checkpoint}});   // before any work
//   write_file_atomically(line.output, bytes, PathFrom::user);
//   say_written(line.output, fmt::format("{}: {} KiB\n", line.output, bytes.size() / 1024));
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace isobar {

struct OutputRules {
  bool force = false;                     // a file that is there is replaced
  bool page = false;                      // so is a page or a chart that isobar wrote, in any case
  std::vector<std::string> inputs = {};   // files that the program reads: never written, by whatever name
  std::vector<std::string> folders = {};  // whose files it may read: only its own pages in them are replaced
  std::string inputs_are = "files";       // "is one of the files that are read"
  std::string choose = "name";            // what the user may choose another of
};

// Throws Error where the output is an input, or is there and may not be replaced. What is in /dev is always written to.
void check_output(const std::string& path, const OutputRules& rules);

// Says on stdout what was written; on stderr where the output itself is in /dev: it may be stdout.
void say_written(const std::string& path, std::string_view text);

}  // namespace isobar
