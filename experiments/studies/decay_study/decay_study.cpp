// What becomes of signal and gradient in deep nets, with and without norms?
//
// Claim (source 003, why deep networks need normalization): in eight layers of Linear and ReLU the std falls
// from 1.04 to 0.016 and the gradient norm from 0.43 to 0.000012; RMSNorm holds every layer's std near 1;
// with 100 layers the std is 1e-10, and 1000 layers cannot be trained at all.
#include "../../claims/results.h"
#include "../../run/grid.h"
#include "../../run/program.h"
#include "output.h"

using namespace isobar;
using namespace isobar::decay;

namespace {

constexpr int64_t preset_seeds = 20;  // as PyTorch's

// One run: the net of this seed, a batch of normal numbers going up, the loss's gradient coming down.
Signals measure(const Config& config, int64_t seed) {
  const Rng rng(static_cast<uint64_t>(seed));
  const Tensor x = rng.split("x").normal({config.batch, config.width}, 0, 1, config.element_type());
  Net net(config, rng.split("net"));
  SignalProbe probe(net);
  {
    const Watch watching(net, probe);
    Tape tape;
    tape.backward(loss_of(config.loss, net(x), rng.split("loss")));
  }
  return {.input_std = moments_of(x).std, .layers = probe.layers()};
}

// The study's loop: the same net with other random numbers, several seeds side by side.
Result measure_seeds(Grid& grid, const Config& config, const Run& run) {
  Result result{.config = config, .runs = {}, .theory = theory_of(config)};
  std::vector<Json> rows;
  for (int64_t seed = run.seed(); seed < run.seed() + config.seeds; ++seed)
    rows.push_back({{"net", config.key()}, {"seed", seed}});
  result.runs = grid.train<Signals>(
      rows, [&](size_t i) { return measure(config, run.seed() + static_cast<int64_t>(i)); });
  return result;
}

// PyTorch's ranges are those of 20 seeds: the median of 20 others lies within them, one seed need not.
bool has_seeds_of_reference(Run& run, const Config& config) {
  if (config.seeds == preset_seeds) return true;
  run.say("Not compared with PyTorch's ranges: they hold for the median of {} seeds, and this run has {}.\n",
          preset_seeds, config.seeds);
  return false;
}

// What 003 prints of the preset's net, for its charts.
PrintedColumns printed_columns(const std::string& preset, size_t layers) {
  return {claims::printed_values(preset, "layer{}.std", layers),
          claims::printed_values(preset, "layer{}.weight_grad_norm", layers)};
}

// One net, every layer.
void study_net(Run& run, const Config& config) {
  Grid grid(run);
  const Result result = measure_seeds(grid, config, run);
  grid.finish();

  run.measured("input.std", spread_over(result.runs, &Signals::input_std), 1);
  Json layers = Json::array();
  Csv& csv = open_layers_csv(run);
  for (size_t layer = 0; layer < result.theory.size(); ++layer)
    layers.push_back(publish_layer(run, csv, "", result, layer));
  run.summary()["layers"] = std::move(layers);
  record_series(run, "", result);
  measured_net(run, "", result);
  plot_layers(
      run, result,
      run.preset_unchanged() ? printed_columns(run.preset(), result.theory.size()) : PrintedColumns());
  print_layers(run, result);
  const std::string bits = bits_of(result);
  run.summary()["bits"] = bits;
  run.say("checksum of all seeds and layers: {}\n", bits);

  if (!run.preset_unchanged()) return;
  claims::say_verdicts(run, run.preset());
  if (has_seeds_of_reference(run, config) && run.preset().starts_with("blog8"))
    expect_blog8(run, result.runs, run.preset() == "blog8_rmsnorm");
}

// All nets whose median theory knows at finite width.
void expect_theory(Run& run, const std::vector<std::pair<Config, std::vector<ComparedCell>>>& nets) {
  Agreements agreements;
  for (const auto& [config, cells] : nets) {
    if (!knows_finite_width(config)) continue;
    for (const ComparedCell& cell : cells)
      agreements.add(cell.agreement, fmt::format("{} of layer {} of {}", cell.quantity, cell.reference.layer,
                                                 config.net_name()));
  }
  const std::string detail = fmt::format(
      "{} cells, largest |z| {:.2f} ({}); {} more are 0 or overflow in f32, as theory predicts; {} disagree",
      agreements.with_z, agreements.largest_z, agreements.where, agreements.out_of_range,
      agreements.disagreeing);
  run.measured("theory.largest_z", agreements.largest_z);
  if (run.seed() == 0 && nets.front().first.seeds == preset_seeds)
    run.expect("closed forms of nets with a norm, and plain ones without: |z| <= 3",
               agreements.disagreeing == 0, detail);
  else
    run.say("Closed forms of nets with a norm, and plain ones without: {}; the bound is for seeds 0 to 19.\n",
            detail);
}

// Every net of the reference, the layers that it lists.
void study_reference(Run& run, const Config& asked) {
  check(run.preset_unchanged(),
        "--preset depth_table takes its nets from the reference: only --seeds and --seed can be given; drop "
        "the others or take --preset blog8");
  const std::vector<Reference> references = depth_reference();

  std::vector<std::pair<Config, std::vector<ComparedCell>>> nets;
  Json table = Json::array(), layers = Json::array();
  Csv& csv = open_layers_csv(run);
  Grid grid(run);
  for (const Reference& reference : references) {
    Config config = reference.config;
    config.seeds = asked.seeds;
    const Result result = measure_seeds(grid, config, run);

    for (const ReferenceCell& cell : reference.output_std) {
      Json entry = {{"net", config.net_name()}};
      entry.update(publish_layer(run, csv, config.key() + ".", result, static_cast<size_t>(cell.layer - 1)));
      layers.push_back(std::move(entry));
    }
    measured_net(run, config.key() + ".", result);
    record_series(run, config.net_name() + "/", result);
    run.flush();
    nets.emplace_back(config, compare(result, reference));
    table.push_back(compared_json(config, nets.back().second));
  }
  grid.finish();
  run.summary()["table"] = std::move(table);
  run.summary()["layers"] = std::move(layers);
  print_comparison(run, nets);

  for (const auto& [config, cells] : nets) {
    std::string detail = "all cells agree with PyTorch's";
    for (const ComparedCell& cell : cells)
      if (!cell.ours.agrees)
        detail = fmt::format(
            "{} of layer {}: median {}, {} zeros, {} not finite; PyTorch's {}, {}, {}; "
            "log10 of the ratio {:.3f}, allowed {:.3f}",
            cell.quantity, cell.reference.layer, cell.ours.median, cell.ours.zeros, cell.ours.nonfinite,
            cell.reference.median, cell.reference.zeros, cell.reference.nonfinite, cell.ours.log10_ratio,
            cell.ours.tolerance);
    run.expect(config.net_name(), all_agree(cells), detail);
  }
  expect_theory(run, nets);
}

}  // namespace

int main(int argc, char** argv) {
  Config config;
  const Program program{
      .name = "decay_study",
      .about =
          "What becomes of signal and gradient in deep nets, with and without norms?\n"
          "Judges the tables of source 003 over many seeds, beside the closed forms.",
      .example = "decay_study --norm rmsnorm --depth 100",
      .page = "studies/decay_study/README.md",
      .trained = trains_no_nets,
      .presets = {{"blog8", "003's eight layers without norm"},
                  {"blog8_rmsnorm", "the same with RMSNorm before each ReLU", "--norm rmsnorm"},
                  {"depth_table", "87 nets of 8 to 1000 layers, beside PyTorch's"}},
      .tiny = "--depth 2 --width 16 --batch 4 --seeds 2",
      .shares = true,
      .check = [&] { config.check_together(); }};
  return run_program(program, config, argc, argv, [&](Run& run) {
    if (run.preset() == "depth_table")
      study_reference(run, config);
    else
      study_net(run, config);
  });
}
