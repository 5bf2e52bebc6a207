// isobar: the tool. Its first word says what to do.
//
//   isobar verify mine.toml       judge the claims of a file of your own (claims/README.md says how to write one)
//
// verify makes the runs that the files need below --out, reuses those that are there, and prints a verdict for each
// claim. Exit codes: 0 done; 1 a study failed; 2 bad usage, or a mistake in a file, with its line; 3 done, but for
// studies that cannot run here.
#include <fmt/format.h>

#include "claims/verify.h"
#include "harness/nearest.h"
#include "harness/program.h"

using namespace isobar;

namespace {

struct Verify : HasFields {
  void fields(Fields&) override {}
};

int verify(int argc, char** argv) {
  Verify config;
  std::vector<std::string> paths;
  const Program program{
      .name = "isobar verify",
      .about = "Judges the claims of files: makes the runs that they need, and says what holds.",
      .presets = {{"quick", "small sizes and few seeds", [] {}},
                  {"full", "all that the files ask for", [] {}}},
      .command = "isobar verify",
      .folder = "runs/verify",
      .words = {.name = "FILE", .about = "files of claims, as claims/README.md says", .values = &paths},
      .goes_on = true};
  bool all_made = true;
  const int code = run_program(program, config, std::vector<std::string>(argv, argv + argc), [&](Run& run) {
    check(!paths.empty(),
          "wanted one file of claims or more; experiments/claims/README.md says how to write one");
    std::vector<claims::ClaimFile> files;
    for (const std::string& path : paths) files.push_back(claims::read_claims(path));
    all_made = claims::verify(run, files, {.scale = run.preset(), .only = "", .detail = true});
  });
  return code == 0 && !all_made ? 3 : code;
}

constexpr const char* help =
    "isobar: measures what is said about normalization in deep networks.\n\n"
    "  isobar verify FILE...    judge the claims of files: `isobar verify --help`\n";

}  // namespace

int main(int argc, char** argv) {
  const std::string command = argc > 1 ? argv[1] : "--help";
  if (command == "verify") return verify(argc - 2, argv + 2);
  if (command == "--help" || command == "-h") {
    fmt::print("{}", help);
    return 0;
  }
  const std::vector<std::string> known = {"verify"};
  fmt::print(stderr, "isobar: unknown command '{}'{}; see isobar --help\n", command,
             did_you_mean(command, known));
  return 2;
}
