// Which claims hold? Makes every run that they need, judges every claim, and says why.
//
//   isobar verify                   the texts, small sizes, as with --quick                  about 6 minutes
//   isobar verify --full            the sizes that the texts speak of, more seeds            about 45 minutes
//   isobar verify --claim D06       one claim of them, each part shown
//   isobar verify mine.toml         the claims of a file of your own (claims/README.md says how to write one)
//   isobar verify mine.toml --programs build      with build/decay_study, which knows a norm of your own
//
// Without a file the claims are those of claims/000.toml … claims/004.toml, which hold every quotation, printed value,
// rule and bound. Each run's results stay in a folder of their own below --out. One that is there with the same
// configuration is not made again, so an interrupted run goes on where it was, and claims are judged anew. Where few
// seeds leave a claim open, the verdict of the last full run is shown beside it, with its date (claims/full.json).
//
// Runs of a file that did not come along are estimated first: where they would take more than half of the
// memory or an hour, it asks, on a terminal, or refuses. What an estimate misses ends at these limits.
// --allow_large lifts both.
//
// Exit codes: 0 done; 1 a study failed; 2 bad usage, or a mistake in a file, with its line; 3 done, but for studies
// that cannot run here.
//
// Written: claims.csv; summary.json, whose "claims" give for each the verdict, the values it was computed from, and
// the reason; and the page, report.html, which is renewed as each study ends.
#include "../claims/verify.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "../../data/file.h"
#include "../harness/lists.h"
#include "../harness/program.h"
#include "../report/page.h"
#include "verbs.h"

namespace isobar::verbs {
namespace {

struct VerifyConfig : HasFields {
  std::string claim = "", only = "", page = "", programs = "";
  bool allow_large = false;
  void fields(Fields& f) override {
    f("claim", claim,
      "judge these claims alone: ids with commas between, D06 or 003; results go to runs/claims");
    f("page", page, "the page, renewed as each study ends; empty: report.html in the folder of the results");
    f("only", only, "make this one of the runs alone; claims that need others count as not run here");
    f("programs", programs,
      "a folder with studies of your own, such as a decay_study with your norm, which are run in place of those "
      "here");
    f("allow_large", allow_large,
      "files of your own may take more than half of the memory and an hour: a stranger's may not");
  }
};

bool is_claim(const std::string& word) {
  return std::ranges::any_of(claims::builtin_table(),
                             [&](const claims::Claim* claim) { return claim->id == word; });
}

}  // namespace

int verify(const Words& words) {
  VerifyConfig config;
  Words paths;
  const Program program{
      .name = "isobar verify",
      .about = "Which claims hold? Makes every run that they need, and judges every claim.",
      .example = "isobar verify --quick\nisobar verify --claim D06\nisobar verify mine.toml --out runs/mine",
      .presets = {{"quick", "small sizes and few seeds", [] {}},
                  {"full", "the texts' sizes, and more seeds", [] {}}},
      .folder = "runs/verify",
      .folder_of = [&] { return config.claim.empty() ? "runs/verify" : "runs/claims"; },
      .positionals = {.name = "FILE",
                      .about =
                          "files of claims, as experiments/claims/README.md says [those that come with isobar]",
                      .values = &paths},
      .profiles = false,
      .goes_on = true};
  bool all_made = true;
  const int code = run_program(program, config, words, [&](Run& run) {
    std::vector<claims::ClaimFile> files;
    for (const std::string& path : paths) {
      check(
          std::filesystem::exists(path) || !is_claim(path),
          "wanted a file of claims, got '{0}', which is a claim: write --claim {0}, and several with commas between",
          path);
      files.push_back(claims::read_claims(path));
    }
    const std::string page = config.page.empty() ? run.folder() + "/report.html" : config.page;
    claims::VerifyOptions options{.scale = run.preset(),
                                  .claims = words_of(config.claim),
                                  .only = config.only,
                                  .detail = !paths.empty() || !config.claim.empty(),
                                  .allow_large = config.allow_large,
                                  .programs = config.programs};
    bool said = false;
    options.renewed = [&](const Json& summary) {
      report::Content content;
      content.add(summary, run.folder());
      write_file_atomically(page, content.page("en"));
      if (!std::exchange(said, true)) run.say("\nThe page, renewed as each study ends: {}\n", page);
    };
    all_made = claims::verify(run, paths.empty() ? claims::builtin_claims() : files, options);
  });
  return code == 0 && !all_made ? 3 : code;
}

}  // namespace isobar::verbs
