// What do LayerNorm, RMSNorm and BatchNorm see, keep and cost? Their definitions, put to the test.
//
// Claims (sources 000 to 003): a shift or a scale of the input has no effect; RMSNorm is a special case of
// LayerNorm, keeps the direction to 1e-9, makes vectors of unit length, returns the input's type; the two
// lines that print its examples work; BatchNorm does not suit small batches; leaving out beta saves memory; eps
// prevents the division by zero; no information is lost; subtracting the mean makes a distribution more symmetric.
//
// Written: measurements.csv, and "measured" of summary.json, which the claims' verdicts are computed from.
#include "harness/program.h"
#include "properties/properties.h"

using namespace isobar;
using namespace isobar::properties;

namespace {

struct Config : HasFields {
  int64_t seeds = 20;  // enough for a median and a range
  void fields(Fields& f) override { f("seeds", seeds, "runs, seeds --seed, --seed + 1, …"); }
};

// PyTorch's literals: rounding of f64 on both sides, in sums of 40 products of numbers up to 5 at most.
void expect_torch(Run& run, const Measurements& measurements) {
  for (const char* norm :
       {"layernorm", "rmsnorm", "weight_first", "sqrt_d", "unit", "dyt", "trailing_dimensions"})
    for (const char* what : {"error", "gradient_error"})
      measurements.expect_close(run, fmt::format("torch.{}.{}", norm, what), 1e-13);
  for (const char* what : {"batchnorm.error", "batchnorm.running_mean.error", "batchnorm.running_var.error",
                           "pre_norm.error", "post_norm.error"})
    measurements.expect_close(run, fmt::format("torch.{}", what), 1e-13);
  // A block of two branches and matrices, whose gradients reach 118.
  for (const char* what : {"error", "gradient_error"})
    measurements.expect_close(run, fmt::format("torch.minimind_block.{}", what), 1e-12);
  for (const char* answer :
       {"torch.promotion.fp16_times_f32_is_f32", "torch.promotion.type_as_last_is_fp16", "torch.shape.kept",
        "torch.zero.rmsnorm.with_eps", "torch.zero.rmsnorm.without_eps.is_nan"})
    measurements.expect_close(run, answer, 0);
}

// In f64, rounding of numbers around 1, and of 1e4 where a shift was added; in f32, of the cosine's two sums.
void expect_identities(Run& run, const Measurements& measurements) {
  for (const char* formula : {"layernorm", "rmsnorm", "batchnorm", "sqrt_d",
                              "layernorm_is_rmsnorm_of_centred", "weight_first", "dyt"})
    measurements.expect_close(run, fmt::format("formula.{}.error", formula), 1e-13);
  for (const char* k : {"k32", "k128", "k256"})
    measurements.expect_close(run, fmt::format("partial.formula.error.{}", k), 1e-13);
  for (const char* placement : {"pre", "post"})
    measurements.expect_close(run, fmt::format("formula.{}_norm.error", placement), 1e-5);  // f32
  measurements.expect_close(run, "fold.with_bias.error", 1e-13);
  measurements.expect_close(run, "layernorm.row_mean", 1e-13);
  measurements.expect_close(run, "layernorm.row_std_error", 1e-13);
  measurements.expect_close(run, "layernorm.row_sample_std", 1e-4);  // eps
  measurements.expect_close(run, "shift.layernorm.change", 1e-10);
  measurements.expect_close(run, "cosine_in_f64.deviation", 1e-12);
  measurements.expect_close(run, "shape.slab.mean_square", 1e-13);
  measurements.expect_close(run, "shape.slab.first_mean_square", 1e-13);
  measurements.expect_close(run, "shape.kept", 0);
  measurements.expect_close(run, "zero.rmsnorm.with_eps", 0);
  measurements.expect_close(run, "zero.rmsnorm.without_eps.is_nan", 0);
  measurements.expect_close(run, "zero.rmsnorm.gradient_with_eps", 1e-9);
  measurements.expect_close(run, "zero.rmsnorm.gradient_without_eps.is_nan", 0);
  measurements.expect_close(run, "information.doubled.change", 0);
  measurements.expect_close(run, "symmetry.skewness.after_over_before", 1e-11);
  measurements.expect_close(run, "symmetry.skewness.layernorm_over_input", 1e-11);
  measurements.expect_close(run, "formula.rmsnorm_without_weight.error", 1e-13);
  measurements.expect_close(run, "length.rms", 1e-13);
  measurements.expect_close(run, "length.euclidean", 1e-12);
  measurements.expect_close(run, "square_overflows_at_255.875", 0);
  measurements.expect_close(run, "square_overflows_at_256", 0);
  for (const char* counted :
       {"rmsnorm512", "rmsnorm512_without_weight", "layernorm512", "source001_layer.rmsnorm",
        "source001_layer.layernorm", "minimind.parameters", "minimind.rmsnorms"})
    measurements.expect_close(run, fmt::format("count.{}", counted), 0);
}

}  // namespace

int main(int argc, char** argv) {
  Config config;
  const Program program{.name = "norm_properties",
                        .about =
                            "What do LayerNorm, RMSNorm, BatchNorm see, keep and cost?\n"
                            "Puts the definitions and invariances of sources 000 to 003 to the test.",
                        .example = "norm_properties --seeds 5",
                        .page = "properties/README.md",
                        .tiny = "--seeds 1"};
  return run_program(program, config, argc, argv, [&](Run& run) {
    check(config.seeds >= 1, "--seeds: wanted at least 1, got {}", config.seeds);
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
    expect_identities(run, measurements);
    expect_torch(run, measurements);
  });
}
