// isobar duel A B: the study duel, where A or B may be a header: then a duel that has the header's norm.
//
// What is built is in the user's cache, and is built again only if something changed.
// The gradient is checked first; where it is wrong the exit code is 1, and no run begins.
#include <filesystem>
#include <sstream>

#include "../../data/shipped.h"
#include "../../data/utf8_stream.h"
#include "../duel/contestant.h"
#include "../duel/own_program.h"
#include "../run/lists.h"
#include "../run/process.h"
#include "verbs.h"

namespace isobar::verbs {
namespace {

constexpr const char* name = "isobar duel";

Words headers_in(const Words& words) {
  Words headers;
  for (const std::string& word : words)
    if (!word.starts_with("-"))
      if (const std::string header = duel::header_in(word); !header.empty()) headers.push_back(header);
  return headers;
}

// The programs of a user's folder find no data beside them.
void pass_on_data() {
  try {
    ::setenv("ISOBAR_DATA", find_tiny_shakespeare().parent_path().c_str(), 0);
  } catch (const Error&) {  // who needs the text says so
  }
}

// Returns the program, or "" where a check failed.
std::string program_with(const std::vector<duel::OwnNorm>& norms) {
  const std::string names = one_line(duel::names_of(norms), longest_message);
  fmt::print(stderr, "{}: compiling, some ten seconds …\n", names);
  const duel::OwnProgram program = duel::build_with(norms, "duel");
  if (program.anew)
    fmt::print(stderr, "{}: compiled in {:.1f} s\n", names, program.seconds);
  else
    fmt::print(stderr, "{}: unchanged since it was compiled\n", names);
  const Finished checked = run_child(program.checker, {}, Complaints::shown);
  std::istringstream report(checked.out);
  for (std::string line; std::getline(report, line);)  // its first lines alone, where all is right
    if (checked.code != 0 || !line.starts_with(' ')) fmt::print(stderr, "{}\n", printable(line));
  return checked.code == 0 ? program.study : "";
}

}  // namespace

int duel(const Words& given) {
  const auto has = [&](const std::string& flag) {
    return std::ranges::any_of(given,
                               [&](auto& word) { return word == flag || word.starts_with(flag + "="); });
  };
  if (has("--ledger")) return search(given);
  if (has("--table")) return table(given);
  const Words words = duel::with_contestants_kept(given);
  return exit_code_of(name, stderr, [&] {
    const Words headers = headers_in(words);
    const bool asks = std::ranges::any_of(words, [](auto& word) {
      return word == "--help" || word == "-h" || word == "--help-all" || word == "--complete" ||
             word == "--version";
    });
    if (headers.empty() || asks)
      become((std::filesystem::path(own_path()).parent_path() / "duel").string(), words);
    const std::vector<duel::OwnNorm> norms = duel::own_norms(headers);
    check(!Ranks::launched(), "{} is compiled by one process: start it without mpirun, then mpirun -n 4 {} …",
          headers[0], shell_word(duel::program_folder(norms, "duel") + "/build/duel"));
    const std::string program = program_with(norms);
    if (program.empty()) {
      complain(stderr, name, "the duel does not start: a check failed");
      return 1;
    }
    pass_on_data();
    become(program, words);
  });
}

}  // namespace isobar::verbs
