// isobar facts: what documents say of claims, runs and studies, as one JSON (page/facts.h).
#include "../page/facts.h"

#include "../../data/file.h"
#include "../run/output_file.h"
#include "../run/tool.h"
#include "tree.h"
#include "verbs.h"

namespace isobar::verbs {
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
    const TreeClaims from = claims_of(tree);
    Json all = isobar::facts::all(from.files, from.kept);
    if (Json norms = norms_of(tree); !norms.is_null()) all["norms"] = std::move(norms);
    const std::string text = json_text(all);
    if (out.empty()) return write_out(text);
    write_file_atomically(out, text, PathFrom::user);
    say_written(out, fmt::format("{}: {} KiB\n", out, text.size() / 1024));
  });
}

}  // namespace isobar::verbs
