// D39: what two scripts of source 003's learning material print, rmsnorm_explained.py and
// normalization_comparison.py of joyehuang/minimind-notes (468fd2d), in f32, weights 1 and biases 0 as there.
#include "../../nn/nn.h"
#include "../harness/table.h"
#include "properties.h"

namespace isobar::properties {
namespace {

// torch.std divides by n − 1.
void add_statistics(Measurements& measurements, const std::string& key, const Tensor& x, double mean_theory,
                    double std_theory) {
  measurements.add(key + ".mean", mean(x).item(), mean_theory);
  measurements.add(key + ".std", std_dev(x).item(), std_theory);
}

// The mean over all vectors of √(mean x²).
double mean_rms(const Tensor& x) { return mean(sqrt(mean(square(x), {-1}))).item(); }

void explained(Measurements& measurements, const Rng& rng) {
  RMSNorm norm(512);
  const Tensor x = rng.normal({2, 10, 512}), y = norm(x);
  for (const auto& [name, tensor] : {std::pair{"input", &x}, {"rmsnorm", &y}}) {
    const std::string key = fmt::format("script.explained.{}", name);
    add_statistics(measurements, key, *tensor, 0, 1);
    measurements.add(key + ".min", min(*tensor).item());
    measurements.add(key + ".max", max(*tensor).item());
    measurements.add(key + ".rms", mean_rms(*tensor), 1);
  }
}

void comparison(Measurements& measurements, const Rng& rng) {
  RMSNorm rms(512);
  LayerNorm layer(512);
  const Tensor x = rng.normal({1000, 512}) * 5 + 2;
  const double root = std::sqrt(29.0);  // of 5² + 2²
  add_statistics(measurements, "script.comparison.input", x, 2, 5);
  add_statistics(measurements, "script.comparison.layernorm", layer(x), 0, 1);
  add_statistics(measurements, "script.comparison.rmsnorm", rms(x), 2 / root, 5 / root);
}

}  // namespace

void measure_scripts(Measurements& measurements, const Rng& rng) {
  explained(measurements, rng.split("explained"));
  comparison(measurements, rng.split("comparison"));
}

void print_scripts(Run& run, const Measurements& measurements) {
  Table table({"script", "tensor", "mean", "std", "min", "max", "rms"});
  const auto row = [&](const char* script, const char* tensor, std::vector<const char*> statistics) {
    std::vector<std::string> cells{script, tensor};
    for (const char* what : statistics)
      cells.push_back(fmt::format(
          "{:.4f}", measurements.spread(fmt::format("script.{}.{}.{}", script, tensor, what)).median));
    cells.resize(7);
    table.row(cells);
  };
  for (const char* tensor : {"input", "rmsnorm"})
    row("explained", tensor, {"mean", "std", "min", "max", "rms"});
  for (const char* tensor : {"input", "layernorm", "rmsnorm"}) row("comparison", tensor, {"mean", "std"});
  run.say(
      "What rmsnorm_explained.py (2 x 10 x 512) and normalization_comparison.py (1000 x 512) print, medians:\n{}\n",
      table.text());
}

}  // namespace isobar::properties
