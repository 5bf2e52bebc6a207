// Which claims of the five texts hold? Makes every run that they need, judges every claim, and says why.
//
//   reproduce                   small sizes, as with --quick                               about 5 minutes
//   reproduce --full            the sizes that the texts speak of, more seeds              about 35 minutes
//
// It is `isobar verify` of the five files claims/000.toml … claims/004.toml, which hold every quotation, printed
// value, rule and bound. Each run's results stay in a folder of their own below --out. One that is there with the
// same configuration is not made again, so an interrupted run goes on where it was, and claims are judged anew. Where few
// seeds leave a claim open, the verdict of the last full run is shown beside it, with its date (claims/full.json).
//
// Exit codes: 0 done; 1 a study failed; 2 bad usage; 3 done, but for studies that cannot run here.
//
// Written: claims.csv; summary.json, whose "claims" give for each the verdict, the values it was computed from, and
// the reason.
#include "claims/verify.h"
#include "harness/program.h"

using namespace isobar;

namespace {

struct Config : HasFields {
  std::string only = "";
  void fields(Fields& f) override {
    f("only", only, "make this one of the runs alone; claims that need others count as not run here");
  }
};

}  // namespace

int main(int argc, char** argv) {
  Config config;
  const Program program{.name = "reproduce",
                        .about = "Which claims of the five texts hold? Makes every run, judges every claim.",
                        .presets = {{"quick", "small sizes and few seeds", [] {}},
                                    {"full", "the texts' sizes, and more seeds", [] {}}},
                        .goes_on = true};
  bool all_made = true;
  const int code = run_program(program, config, argc, argv, [&](Run& run) {
    all_made = claims::verify(run, claims::builtin_claims(),
                              {.scale = run.preset(), .only = config.only, .detail = false});
  });
  return code == 0 && !all_made ? 3 : code;
}
