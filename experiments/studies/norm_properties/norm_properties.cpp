// What do LayerNorm, RMSNorm and BatchNorm see, keep and cost? Their definitions, put to the test.
//
// Claims (sources 000 to 003): a shift or a scale of the input has no effect; RMSNorm is a special case of
// LayerNorm, keeps the direction to 1e-9, makes vectors of unit length, returns the input's type; the two
// lines that print its examples work; BatchNorm does not suit small batches; leaving out beta saves memory;
// eps prevents the division by zero; no information is lost; subtracting the mean makes a distribution more
// symmetric.
#include "../../run/program.h"
#include "properties.h"

using namespace isobar;
using namespace isobar::properties;

namespace {

struct Config : HasFields {
  int64_t seeds = 20;  // enough for a median and a range
  void fields(Fields& f) override { f("seeds", seeds, "number of seeds, from --seed on", at_least(1)); }
};

}  // namespace

int main(int argc, char** argv) {
  Config config;
  const Program program{.name = "norm_properties",
                        .about =
                            "What invariances do norms have, and at what cost?\n"
                            "Puts the definitions and invariances of sources 000 to 003 to the test.",
                        .example = "norm_properties --seeds 5",
                        .page = "studies/norm_properties/README.md",
                        .trained = trains_no_nets,
                        .tiny = "--seeds 1"};
  return run_program(program, config, argc, argv, [&](Run& run) {
    Measurements measurements;
    {
      Progress progress = run.progress(config.seeds, "seeds");
      for (int64_t i = 0; i < config.seeds; ++i) {
        const Rng rng(static_cast<uint64_t>(run.seed() + i));
        measure_invariances(measurements, rng.split("invariances"));
        measure_formulas(measurements, rng.split("formulas"));
        measure_precision(measurements, rng.split("precision"));
        measure_batches(measurements, rng.split("batches"));
        measure_information(measurements, rng.split("information"));
        measure_scripts(measurements, rng.split("scripts"));
        if (i == 0) measure_counts(measurements, rng.split("counts"));
        if (i == 0) measure_torch(measurements);
        progress.advance();
      }
    }
    measurements.publish(run);
    measurements.print(run);
    print_scripts(run, measurements);
    measurements.expect_bounds(run);
  });
}
