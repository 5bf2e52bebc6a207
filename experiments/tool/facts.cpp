// isobar facts: what documents say of claims, runs and studies, as one JSON (page/facts.h).
#include "../page/facts.h"

#include <filesystem>

#include "../../data/file.h"
#include "../run/output_file.h"
#include "../run/tool.h"
#include "verbs.h"

namespace isobar::verbs {
namespace {

constexpr size_t most_bytes = size_t{1} << 26;  // of a file of the tree

// The files of claims of a source tree, in the order of their names.
std::vector<claims::ClaimFile> claims_in(const std::string& tree) {
  const std::string folder = tree + "/experiments/claims/texts";
  check(std::filesystem::is_directory(folder),
        "--tree: wanted a source tree with experiments/claims/texts, found none in '{}'", tree);
  std::vector<claims::ClaimFile> files;
  for (const std::string& name : names_in(folder)) {
    if (!name.ends_with(".toml")) continue;
    files.push_back(claims::parse_claims(read_file(folder + "/" + name, most_bytes), name));
    files.back().shipped = true;
  }
  return files;
}

}  // namespace

int facts(const Words& words) {
  std::string tree, out;
  bool force = false;
  Tool tool("isobar facts",
            "Writes all claims, verdicts, measured values, runs, studies and closed forms as JSON.",
            "isobar facts -o facts.json");
  tool.option("--tree", tree,
              "read claims and stored values from this source tree; default: those of this program");
  tool.option("-o,--output", out, "the file to write; default: stdout");
  tool.option("--force", force, "replace an existing file");
  return tool.run(words, [&] {
    if (!out.empty()) check_output(out, {.force = force});
    const bool shipped = tree.empty();
    const std::vector<claims::ClaimFile> files = shipped ? claims::builtin_claims() : claims_in(tree);
    const claims::Kept kept =
        shipped ? claims::Kept::shipped()
                : claims::Kept(read_file(tree + "/experiments/claims/full.json", most_bytes));
    const std::string text = json_text(isobar::facts::all(files, kept));
    if (out.empty()) return write_out(text);
    write_file_atomically(out, text, PathFrom::user);
    say_written(out, fmt::format("{}: {} KiB\n", out, text.size() / 1024));
  });
}

}  // namespace isobar::verbs
