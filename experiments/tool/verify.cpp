// Which claims hold? Makes the runs that they need, judges every claim, and says why (claims/README.md).
//
// Written: claims.csv; summary.json, whose "claims" give for each the verdict, the values it was computed
// from, and the reason; and the page, report.html, which is renewed as each study ends.
#include "../claims/verify.h"

#include <fmt/ranges.h>

#include <filesystem>

#include "../../data/file.h"
#include "../../data/utf8_stream.h"
#include "../claims/kept.h"
#include "../page/page.h"
#include "../run/output_file.h"
#include "../run/program.h"
#include "verbs.h"

namespace isobar::verbs {
namespace {

constexpr const char* kept_file = "/experiments/claims/full.json";

struct VerifyConfig : HasFields {
  std::vector<std::string> claim;
  std::string only = "", page = "", programs = "", tree = "";
  bool allow_large = false, kept = false, keep = false, renew = false, ladder = false;
  void fields(Fields& f) override {
    f("claim", claim,
      "judge only these claims (D06), or all claims of a text (003); results go to runs/claims", or_none());
    f("page", page, "HTML report; empty: report.html in --out");
    f("only", only, "make only this run, and judge only its claims");
    f("programs", programs, "folder with your own studies, which replace Isobar's of the same name");
    f("allow_large", allow_large, "no limit of memory and time for the runs of your own files");
    f("ladder", ladder, "with --full: the ladders, too (2 more hours)");
    f("kept", kept, "make no run: judge by the stored values of the last full runs; results go to runs/kept");
    f("keep", keep, "make the full runs, and store their values; with --quick, only how long they took");
    f("renew", renew, "removed; use docs/render");
    f("tree", tree, "source tree for --keep; empty: this program's");
  }
};

bool is_claim(const std::string& word) {
  return std::ranges::any_of(claims::builtin_table(),
                             [&](const claims::Claim* claim) { return claim->id == word; });
}

// The source tree whose values are written.
std::string tree_of(const VerifyConfig& config) {
  const std::string tree = config.tree.empty() ? claims::source_tree() : config.tree;
  check(std::filesystem::exists(tree + kept_file),
        "--keep: wanted the source tree with {}, found none in '{}'; name it with --tree", kept_file + 1,
        tree);
  return tree;
}

claims::Kept kept_in(const std::string& tree) {
  return claims::Kept(read_file(tree + kept_file, size_t{1} << 26));
}

void refuse_what_is_not_kept(const VerifyConfig& config, const Words& paths, const Run& run) {
  check(!config.renew,
        "--renew: documents are rendered from the kept values by docs/render in the source tree");
  check(!config.kept || !config.keep,
        "--kept makes no run, --keep keeps what runs measured; give one of them");
  check(paths.empty() || !(config.kept || config.keep),
        "--{}: the values of the texts that come along are kept, none of {}", config.kept ? "kept" : "keep",
        fmt::join(paths, " "));
  if (!config.keep) return;
  check(config.programs.empty(), "--keep: keeps what this build's own studies measure; drop --programs");
  check(run.seed() == 0, "--keep: keeps what the seeds from 0 on measure; drop --seed {}", run.seed());
  check(!run.accept_old(), "--keep: keeps what these sources and data measure; drop --accept-old");
}

// Each run as soon as it is made: an hour's work is not lost where the last one fails.
void keep_made(Run& run, const std::string& tree, const claims::PlannedRun& planned, const Json& summary) {
  try {
    claims::Kept kept = kept_in(tree);
    kept.take(planned, summary, claims::builtin_claims(), run.preset());
    kept.drop_unread(claims::builtin_claims());
    write_file_atomically(tree + kept_file, kept.text());
    run.say("{}: kept, of commit {}\n", planned.name, summary["environment"]["commit"].get<std::string>());
  } catch (const Error& error) {
    run.expect("keep " + planned.name, false, error.what());
  }
}

// Seeds belong to a run, and claims may need several.
void refuse_seeds(const Words& words) {
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] != "--seeds" && !words[i].starts_with("--seeds=")) continue;
    const size_t equals = words[i].find('=');
    const std::string count = equals != std::string::npos ? words[i].substr(equals + 1)
                              : i + 1 < words.size() && !words[i + 1].starts_with('-') ? words[i + 1]
                                                                                       : "50";
    throw_error(fmt::format(
        "--seeds: each run has its own number of seeds; in a file of yours write quick = \"--seeds {0}\", "
        "and of our texts run the study, such as decay_study --seeds {0}; --seed {0} takes other seeds",
        one_line(count)));
  }
}

// The user's, or those that come along.
std::vector<claims::ClaimFile> files_of(const Words& paths) {
  if (paths.empty()) return claims::builtin_claims();
  std::vector<claims::ClaimFile> files;
  for (const std::string& path : paths) {
    check(
        std::filesystem::exists(path) || !is_claim(path),
        "wanted a file of claims, got '{0}', which is a claim: write --claim {0}, and several with commas between",
        path);
    files.push_back(claims::read_claims(path));
  }
  return files;
}

claims::VerifyOptions options_of(const VerifyConfig& config, const Words& paths, const std::string& preset) {
  return {.scale = config.kept ? "full" : preset,
          .claims = config.claim,
          .only = config.only,
          .detail = !paths.empty() || !config.claim.empty(),
          .allow_large = config.allow_large,
          .programs = config.programs,
          .kept = config.kept,
          .ladder = config.ladder};
}

}  // namespace

int verify(const Words& given) {
  refuse_seeds(given);
  VerifyConfig config;
  // What is kept was measured at the full scale.
  Words words = given;
  const auto typed = [&](const std::string& flag) {
    return std::ranges::any_of(given, [&](const auto& w) { return w == flag || w.starts_with(flag + "="); });
  };
  if (typed("--keep") && !typed("--quick") && !typed("--full") && !typed("--preset"))
    words.push_back("--full");
  Words paths;
  const auto jobs = [&](const RunOptions& run) {
    check(!config.kept && !config.keep,
          "--jobs: prints the runs that are to be made; drop --kept and --keep");
    return claims::job_lines(files_of(paths), options_of(config, paths, run.preset), run.folder, run.seed);
  };
  const Program program{
      .name = "isobar verify",
      .about = "Runs the studies that claims need, and prints verdicts; \"false\" is exit code 0.",
      .example = "isobar verify --quick\nisobar verify --claim D06\nisobar verify mine.toml --out runs/mine",
      .trained = trains_no_nets,
      .presets = {{"quick", "small sizes and few seeds"}, {"full", "larger sizes, and more seeds"}},
      .printers = {{.flag = "jobs",
                    .about = "print a command for each missing run, and stop",
                    .text = {},
                    .text_of_run = jobs}},
      .folder = "runs/verify",
      .folder_of =
          [&] { return config.kept            ? "runs/kept"
                       : config.claim.empty() ? "runs/verify"
                                              : "runs/claims"; },
      .positionals =
          {.name = "FILE",
           .about = "files of claims (format: experiments/claims/README.md) [those that come with isobar]",
           .values = &paths},
      .profiles = false,
      .goes_on = MayDiffer{.all = true}};
  claims::Verified verified;
  const int code = run_program(program, config, words, [&](Run& run) {
    refuse_what_is_not_kept(config, paths, run);
    check(!config.ladder || (run.preset() == "full" && !config.kept),
          "--ladder: makes the ladders' runs, which are of the full scale; give it with --full or --keep");
    const std::string tree = config.keep ? tree_of(config) : "";
    const std::vector<claims::ClaimFile> files = files_of(paths);
    const std::string page = config.page.empty() ? run.folder() + "/report.html" : config.page;
    check(config.page.empty() || std::filesystem::path(page).filename() == "report.html" ||
              !is_file_of_run(page, run.folder(), "isobar verify"),
          "--page: '{}' is a file of the run's own results in '{}'; choose another name", page, run.folder());
    check_output(page, {.force = run.force(), .page = true, .inputs = paths});
    claims::VerifyOptions options = options_of(config, paths, run.preset());
    if (config.keep)
      options.made = [&](const claims::PlannedRun& planned, const Json& summary) {
        keep_made(run, tree, planned, summary);
      };
    bool said = false;
    options.renewed = [&](const Json& summary) {
      report::Content content;
      content.add(summary, run.folder());
      if (config.page.empty()) run.staying_file("report.html");
      write_file_atomically(page, content.page("en"),
                            config.page.empty() ? PathFrom::program : PathFrom::user);
      if (!std::exchange(said, true)) run.say("\nThe page, renewed as each study ends: {}\n", page);
    };
    verified = claims::verify(run, files, options);
    if (!tree.empty() && verified.mistakes.empty())
      run.say("\nKept in {}. docs/render renews the documents; build again for programs that show them\n",
              tree + kept_file);
  });
  if (code == 2) return code;  // what ended the run was told
  for (const std::string& mistake : verified.mistakes) complain(stderr, program.name, mistake);
  return !verified.mistakes.empty() ? 2 : code == 0 && !verified.all_here ? 3 : code;
}

}  // namespace isobar::verbs
