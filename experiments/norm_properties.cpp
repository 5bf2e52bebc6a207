// What do LayerNorm, RMSNorm and BatchNorm see, keep and cost? Their definitions, put to the test.
//
// Claims (sources 000 to 003): a shift or a scale of the input has no effect; RMSNorm is a special case of
// LayerNorm, keeps the direction to 1e-9, makes vectors of unit length, returns the input's type; the two
// lines that print its examples work; BatchNorm does not suit small batches; leaving out beta saves memory.
//
//   norm_properties                  20 seeds                                                  15 seconds
//   norm_properties --seeds 1        the identities alone
//
// Expected: identities to 1e-12; RMSNorm changes under a shift and, at an rms of 1e-3, under a scale (std
// 0.30 instead of 1); vectors of rms 1 and length √d = 22.6; fp16 without an upcast overflows as soon as
// |x| > 255.9; MiniMind has 25,829,888 parameters, 17 RMSNorms, and beta would add 0.034 %.
//
// Written: figures.csv, and "measured" of summary.json, which the claims' verdicts are computed from.
#include "harness/program.h"
#include "properties/figures.h"

using namespace isobar;
using namespace isobar::properties;

namespace {

struct Config : HasFields {
  int64_t seeds = 20;  // enough for a median and a range
  void fields(Fields& f) override { f("seeds", seeds, "runs, seeds --seed, --seed + 1, …"); }
};

}  // namespace

int main(int argc, char** argv) {
  Config config;
  const Program program{.name = "norm_properties",
                        .about =
                            "What do LayerNorm, RMSNorm and BatchNorm see, keep and cost?\n"
                            "Puts the definitions and invariances of sources 000 to 003 to the test."};
  return run_program(program, config, argc, argv, [&](Run& run) {
    check(config.seeds >= 1, "--seeds: wanted at least 1, got {}", config.seeds);
    Figures figures;
    {
      Progress progress = run.progress(config.seeds, "seeds");
      for (int64_t i = 0; i < config.seeds; ++i) {
        const Rng rng(static_cast<uint64_t>(run.seed() + i));
        measure_invariances(figures, rng.split("invariances"));
        measure_formulas(figures, rng.split("formulas"));
        measure_precision(figures, rng.split("precision"));
        measure_batches(figures, rng.split("batches"));
        if (i == 0) measure_counts(figures, rng.split("counts"));
        progress.advance();
      }
    }
    figures.publish(run);
  });
}
