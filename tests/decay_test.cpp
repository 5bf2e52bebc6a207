#include <doctest/doctest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "../core/raw.h"
#include "../experiments/decay/agreement.h"
#include "../experiments/decay/net.h"
#include "../experiments/decay/reference.h"
#include "../experiments/decay/report.h"
#include "../experiments/decay/theory.h"
#include "../experiments/harness/json.h"
#include "temporary_folder.h"

using namespace isobar;
using namespace isobar::decay;
using doctest::Approx;

namespace {

struct Choice {
  const char* topology = "plain";
  const char* init = "default";
  const char* norm = "none";
  const char* loss = "sum";
  int64_t depth = 8, width = 128;
};

Config config_of(const Choice& net) {
  Config config;
  config.topology = net.topology;
  config.init = net.init;
  config.norm = net.norm;
  config.loss = net.loss;
  config.depth = net.depth;
  config.width = net.width;
  config.check_values();
  return config;
}

LayerTheory theory_at(const Choice& net, int64_t layer) {
  return theory_of(config_of(net)).at(static_cast<size_t>(layer - 1));
}
// The value at infinite width: the median without its factor exp(−σ²).
double at_infinite_width(const Prediction& theory) {
  return theory.median * (std::isnan(theory.log_sd) ? 1 : std::exp(theory.log_sd * theory.log_sd));
}
double theory_std(const Choice& net, int64_t layer) {
  return at_infinite_width(theory_at(net, layer).output_std);
}
double theory_gradient(const Choice& net, int64_t layer) {
  return at_infinite_width(theory_at(net, layer).weight_gradient_norm);
}

// Runs the built program as a user does. `out` holds stdout, and stderr where that is redirected to it.
struct Outcome {
  int code;
  std::string out;
};
Outcome run_program(const std::string& arguments, const std::string& redirection) {
  const std::string command =
      fmt::format("{}/bin/decay_study {} {}", ISOBAR_BINARY_DIR, arguments, redirection);
  std::FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  Outcome outcome;
  char buffer[4096];
  while (const size_t count = std::fread(buffer, 1, sizeof buffer, pipe)) outcome.out.append(buffer, count);
  const int status = pclose(pipe);
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

Json run_json(const std::string& arguments, int wanted_code = 0) {
  const TemporaryFolder folder;
  const std::string out = (folder.path() / "run").string();
  const Outcome outcome = run_program(arguments + " --json --out " + out, "2>/dev/null");
  INFO(arguments, "\n", outcome.out);
  REQUIRE(outcome.code == wanted_code);
  return Json::parse(outcome.out);
}

}  // namespace

// --- closed forms ------------------------------------------------------------------------------------------

TEST_CASE("without a norm the closed forms are the known ones of eight layers of 512") {
  // Literals: mean-field values worked out by others for 8 × [Linear(512, 512) → ReLU], batch 32, loss = sum,
  // to three digits (so to half a percent).
  const double stds[] = {0.3374, 0.1386, 0.0585, 0.0281, 0.0188, 0.0168, 0.0164, 0.0163};
  const double gradients[] = {3.87, 7.21, 10.6, 14.4, 21.3, 40.5, 93.8, 229};
  for (int i = 0; i < 8; ++i) {
    CHECK(theory_std({.width = 512}, i + 1) == Approx(stds[i]).epsilon(0.005));
    CHECK(theory_gradient({.width = 512}, i + 1) == Approx(gradients[i]).epsilon(0.005));
  }
}

TEST_CASE("with RMSNorm the closed forms are the known ones of eight layers of 512") {
  // The literals leave out the 1/width that each norm's projection takes (0.7 % after seven layers) and treat
  // the last layer's projection the same for one row and for two (0.3 %).
  const double gradients[] = {2886, 4093, 5484, 6963, 8506, 10106, 11758, 13459};
  for (int i = 0; i < 8; ++i) {
    CHECK(theory_std({.norm = "rmsnorm", .width = 512}, i + 1) == Approx(0.58382).epsilon(1e-4));
    CHECK(theory_gradient({.norm = "rmsnorm", .width = 512}, i + 1) == Approx(gradients[i]).epsilon(0.01));
  }
}

TEST_CASE("biases hold the std at 0.58382 sqrt(2 / 5n)") {
  CHECK(theory_std({.depth = 100, .width = 512}, 100) == Approx(0.01632).epsilon(1e-3));
  CHECK(theory_std({.depth = 1000, .width = 128}, 1000) ==
        Approx(0.58382 * std::sqrt(0.4 / 128)).epsilon(1e-4));
}

TEST_CASE("without bias each layer multiplies the std by sqrt(v / 2)") {
  const std::map<std::string, double> factors = {{"default_nobias", std::sqrt(1.0 / 6)},
                                                 {"xavier_uniform", std::sqrt(0.5)},
                                                 {"lecun_normal", std::sqrt(0.5)},
                                                 {"orthogonal", std::sqrt(0.5)},
                                                 {"he_uniform", 1},
                                                 {"orthogonal_sqrt2", 1},
                                                 {"normal01", 8}};  // √(128/2)
  for (const auto& entry : factors) {
    const auto& [init, factor] = entry;
    INFO(entry.first);
    CHECK(theory_std({.init = init.c_str(), .depth = 100}, 100) ==
          Approx(std::sqrt(1 - 1 / M_PI) * std::pow(factor, 100)).epsilon(1e-9));
  }
}

TEST_CASE("mean squares of residual nets follow their recursions") {
  const double n = 128;
  double plain = 1, normed = 1;
  for (int64_t depth = 1; depth <= 50; ++depth) {
    plain = plain * (1 + 1.0 / 18) + 1 / (3 * n) * (1 + 1.0 / 6);
    normed = normed + 1.0 / 18 + 1 / (3 * n) * (1 + 1.0 / 6);
    CHECK(theory_std({.topology = "residual", .depth = 50}, depth) == Approx(std::sqrt(plain)).epsilon(1e-9));
    // eps = 1e-5 inside the norm is left out here.
    CHECK(theory_std({.topology = "pre", .norm = "rmsnorm", .depth = 50}, depth) ==
          Approx(std::sqrt(normed)).epsilon(1e-5));
    CHECK(theory_std({.topology = "post", .norm = "layernorm", .depth = 50}, depth) ==
          Approx(1).epsilon(1e-5));
  }
  CHECK(theory_std({.topology = "residual", .init = "he_normal"}, 8) == Approx(81));  // √3 per block
  CHECK(theory_std({.topology = "pre", .init = "he_normal", .norm = "rmsnorm"}, 4) ==
        Approx(3).epsilon(1e-5));
  CHECK(theory_std({.topology = "skipinit", .init = "he_normal", .depth = 1000}, 1000) ==
        Approx(std::exp(1)).epsilon(0.002));  // √(1 + 2/D)^D → e
  CHECK(theory_std({.topology = "rezero"}, 8) == 1);
  CHECK(theory_gradient({.topology = "fixup"}, 8) == 0);
}

TEST_CASE("where no closed form is known there is none") {
  CHECK(std::isnan(theory_std({.norm = "dyt"}, 1)));
  CHECK(std::isnan(theory_gradient({.topology = "pre", .norm = "dyisru"}, 1)));
  Config config = config_of({.norm = "rmsnorm"});
  config.order = "relu_norm";
  CHECK(theory_of(config)[3].output_std.median == Approx(0.82565).epsilon(1e-4));
  CHECK(std::isnan(theory_of(config)[3].weight_gradient_norm.median));
}

TEST_CASE("a finite net's median lies below infinite width by exp(-beta k / 4n)") {
  // Rows of a deep net without bias are equal, but those of its first layers are not: k is a little below 1000.
  const Prediction he = theory_at({.init = "he_normal", .depth = 1000}, 1000).output_std;
  CHECK(he.log_sd == Approx(std::sqrt(5.0 * 1000 / 128) / 2).epsilon(0.01));
  CHECK(he.median == Approx(std::sqrt(1 - 1 / M_PI) * std::exp(-he.log_sd * he.log_sd)));
  const Prediction orthogonal = theory_at({.init = "orthogonal_sqrt2", .depth = 1000}, 1000).output_std;
  CHECK(orthogonal.log_sd == Approx(std::sqrt(3.0 * 1000 / 128) / 2).epsilon(0.01));
  // Independent rows in layer 1: the mean over 32 of them.
  CHECK(theory_at({.init = "he_normal"}, 1).output_std.log_sd == Approx(std::sqrt(5.0 / 32 / 128) / 2));
  // On the plateau of biases a sixth of p comes from below: k = 1 / (1 − 1/36), whatever the depth.
  CHECK(theory_at({.depth = 100}, 100).output_std.log_sd ==
        Approx(std::sqrt(5.0 / (1 - 1.0 / 36) / 128) / 2).epsilon(0.02));
  // A gradient passes all layers, up to its weight and down from the top.
  const Choice net{.init = "he_normal", .depth = 1000};
  for (const int64_t layer : {1, 500, 1000})
    CHECK(theory_at(net, layer).weight_gradient_norm.log_sd ==
          Approx(std::sqrt(5.0 * 1000 / 128) / 2).epsilon(0.01));
  CHECK(std::isnan(theory_at({.norm = "rmsnorm"}, 8).output_std.log_sd));
  CHECK(std::isnan(theory_at({.topology = "residual"}, 8).output_std.log_sd));
}

TEST_CASE("PyTorch's medians of plain nets without a norm lie within 3 standard errors of theory") {
  int with_z = 0, zeros = 0;
  for (const Reference& reference : depth_reference()) {
    if (reference.config.topology != "plain" || reference.config.norm != "none") continue;
    const std::vector<LayerTheory> theory = theory_of(reference.config);
    const auto check_cell = [&](const ReferenceCell& cell, Prediction LayerTheory::*quantity) {
      const Prediction& predicted = theory.at(static_cast<size_t>(cell.layer - 1)).*quantity;
      INFO(reference.config.net_name(), ", layer ", cell.layer, ": ", cell.median, ", theory ",
           predicted.median);
      if (cell.median == 0) {
        ++zeros;
        CHECK(predicted.median < 1.2e-38);  // the least normal f32
        return;
      }
      ++with_z;
      const double sd = std::max(cell.log10_sd * std::log(10), predicted.log_sd);
      CHECK(std::abs(std::log(cell.median / predicted.median)) < 3 * 1.2533 * sd / std::sqrt(20));
    };
    for (const ReferenceCell& cell : reference.output_std) check_cell(cell, &LayerTheory::output_std);
    for (const ReferenceCell& cell : reference.weight_gradient_norm)
      check_cell(cell, &LayerTheory::weight_gradient_norm);
  }
  CHECK(with_z == 97);
  CHECK(zeros == 17);
}

// --- measurement -------------------------------------------------------------------------------------------

TEST_CASE("one layer's values are those of its arithmetic, done by hand") {
  Config config;
  config.depth = 1;
  config.width = 4;
  config.batch = 3;
  config.dtype = "f64";
  const Signals signals = measure(config, 7);
  const LayerSignal& layer = signals.layers.at(0);

  const Rng rng(7);
  const Tensor x = rng.split("x").normal({3, 4}, 0, 1, Dtype::f64);
  const Net net(config, rng.split("net"));
  const Linear& linear1 = *net.layers[0].linear1;
  std::vector<double> z, y;
  double dw[4][4] = {};
  for (int b = 0; b < 3; ++b)
    for (int j = 0; j < 4; ++j) {
      double sum = linear1.bias.at({j});
      for (int k = 0; k < 4; ++k) sum += x.at({b, k}) * linear1.weight.at({j, k});
      z.push_back(sum);
      y.push_back(std::max(sum, 0.0));
      for (int k = 0; k < 4; ++k) dw[j][k] += sum > 0 ? x.at({b, k}) : 0;
    }
  const auto mean_of = [](const std::vector<double>& v) {
    double sum = 0;
    for (const double value : v) sum += value;
    return sum / static_cast<double>(v.size());
  };
  const auto std_of = [&](const std::vector<double>& v) {
    double squares = 0;
    for (const double value : v) squares += (value - mean_of(v)) * (value - mean_of(v));
    return std::sqrt(squares / (static_cast<double>(v.size()) - 1));
  };
  const auto along_one = [](const std::vector<double>& v) {
    double cosines = 0;
    for (size_t b = 0; b < 3; ++b) {
      double sum = 0, squares = 0;
      for (size_t j = 0; j < 4; ++j) {
        sum += v[4 * b + j];
        squares += v[4 * b + j] * v[4 * b + j];
      }
      cosines += sum * sum / (4 * squares);
    }
    return std::sqrt(cosines / 3);
  };
  double across = 0, squares = 0;
  for (size_t j = 0; j < 4; ++j) across += std_of({y[j], y[4 + j], y[8 + j]}) / 4;
  for (const auto& row : dw)
    for (const double value : row) squares += value * value;

  CHECK(signals.input_std == Approx(std_of(x.to_vector<double>())));
  CHECK(layer.linear_std == Approx(std_of(z)));
  CHECK(layer.linear_mean == Approx(mean_of(z)));
  CHECK(std::isnan(layer.norm_std));
  CHECK(layer.relu_std == Approx(std_of(y)));
  CHECK(layer.output_std == Approx(std_of(y)));
  CHECK(layer.output_mean == Approx(mean_of(y)));
  CHECK(layer.linear_along_one == Approx(along_one(z)));
  CHECK(layer.output_along_one == Approx(along_one(y)));
  CHECK(layer.across_batch_std == Approx(across));
  CHECK(layer.weight_gradient_norm == Approx(std::sqrt(squares)));
  CHECK(layer.output_gradient_norm == Approx(std::sqrt(12.0)));
}

TEST_CASE("measured nets follow the closed forms") {
  const Choice nets[] = {
      {},
      {.init = "default_nobias"},  // where Euler's theorem more than doubles the gradient of layer 1
      {.init = "he_normal"},
      {.init = "orthogonal_sqrt2"},
      {.init = "normal01"},
      {.init = "lecun_normal", .loss = "mean"},
      {.norm = "rmsnorm"},
      {.init = "he_uniform", .norm = "layernorm"},
      {.norm = "layernorm", .loss = "random"},
      {.topology = "residual"},
      {.topology = "pre", .norm = "rmsnorm"},
      {.topology = "pre", .init = "xavier_normal", .norm = "layernorm", .loss = "random"},
      {.topology = "post", .norm = "rmsnorm"},
      {.topology = "post", .init = "he_normal", .norm = "layernorm", .loss = "random"},
      {.topology = "skipinit", .init = "he_normal", .loss = "random"},
  };
  for (const Choice& net : nets) {
    const Config config = config_of(net);
    std::vector<Signals> runs;
    for (int64_t seed = 0; seed < 5; ++seed) runs.push_back(measure(config, seed));
    const std::vector<LayerTheory> theory = theory_of(config);
    for (size_t layer = 0; layer < 8; ++layer) {
      INFO(config.net_name(), ", layer ", layer + 1);
      // Two and a half standard deviations of a median of five at width 128: seeds differ by up to 10 % in
      // the std and 20 % in the gradient norm.
      CHECK(layer_spread(runs, layer, &LayerSignal::output_std).median ==
            Approx(theory[layer].output_std.median).epsilon(0.15));
      CHECK(layer_spread(runs, layer, &LayerSignal::weight_gradient_norm).median ==
            Approx(theory[layer].weight_gradient_norm.median).epsilon(0.3));
    }
  }
}

TEST_CASE("ln of a plain net's std scatters as Hanin and Nica have it") {
  struct Case {
    const char* init;
    double beta;
  };
  for (const auto& [init, beta] :
       {Case{"he_normal", 5}, Case{"he_uniform", 5}, Case{"orthogonal_sqrt2", 3}}) {
    Config config = config_of({.init = init, .depth = 32, .width = 64});
    config.batch = 1;
    constexpr int nets = 200;
    double sum = 0, squares = 0;
    for (int64_t seed = 0; seed < nets; ++seed) {
      const double log_std = std::log(measure(config, seed).layers.back().output_std);
      sum += log_std;
      squares += log_std * log_std;
    }
    const double sd = std::sqrt((squares - sum * sum / nets) / (nets - 1));
    INFO(config.net_name());
    // Three standard errors of an sd of 200 nets, 1/√400 = 0.05 each, and the next order in 1/64 (a simulation of
    // 200,000 orthogonal nets gives 0.643, 5 % more).
    CHECK(sd == Approx(std::sqrt(beta * 32 / 64) / 2).epsilon(0.2));
    CHECK(sd == Approx(theory_of(config).back().output_std.log_sd).epsilon(0.2));
    // Three standard errors of the mean: sd / √200 each.
    CHECK(std::abs(sum / nets - std::log(theory_of(config).back().output_std.median)) <
          3 * sd / std::sqrt(nets));
  }
}

TEST_CASE("rows of a residual stream lie along 1 no more than random directions") {
  const Choice streams[] = {{.topology = "residual"},
                            {.topology = "pre", .norm = "rmsnorm"},
                            {.topology = "pre", .norm = "layernorm"},
                            {.topology = "post", .norm = "rmsnorm"}};
  for (const Choice& net : streams) {
    const Config config = config_of(net);
    INFO(config.net_name());
    CHECK(theory_of(config).back().along_one == Approx(1 / std::sqrt(128.0)));
    double squares = 0;
    for (int64_t seed = 0; seed < 10; ++seed)
      squares += std::pow(measure(config, seed).layers.back().output_along_one, 2) / 10;
    // 320 rows, of which each net's are alike: some 30 independent squares of normal numbers, whose mean has a
    // relative standard deviation of √(2/30) = 0.26, and its root half of that. Three of them.
    CHECK(std::sqrt(squares) == Approx(1 / std::sqrt(128.0)).epsilon(0.4));
  }
  const Choice centred{.topology = "post", .norm = "layernorm"};
  CHECK(theory_at(centred, 8).along_one == 0);
  CHECK(measure(config_of(centred), 0).layers.back().output_along_one < 1e-6);  // rounding in f32

  for (const char* norm : {"none", "rmsnorm", "layernorm"}) {
    const double plain = measure(config_of({.norm = norm}), 0).layers.back().output_along_one;
    // 1/√π = 0.564; each of 128 features adds to the share's scatter: √(1/128) / 2 = 0.04 at most.
    CHECK(plain == Approx(theory_at({.norm = norm}, 8).along_one).epsilon(0.15));
  }
  CHECK(theory_at({.width = 16384}, 1).along_one == Approx(0.56419).epsilon(1e-4));
}

TEST_CASE("blocks that start as the identity pass the signal on and leave W1 without gradient") {
  for (const char* topology : {"rezero", "fixup"}) {
    const Signals signals = measure(config_of({.topology = topology, .loss = "random", .width = 16}), 0);
    for (const LayerSignal& layer : signals.layers) {
      CHECK(layer.output_std == signals.input_std);
      CHECK(layer.weight_gradient_norm == 0);
      CHECK(layer.output_gradient_norm == signals.layers.front().output_gradient_norm);
    }
  }
}

TEST_CASE("the study's layers are their formulas, written out") {
  const Tensor x = Rng(4).normal({5, 8}, 0, 1, Dtype::f64);
  for (const char* name : {"plain", "residual", "pre", "post", "skipinit", "rezero", "fixup"}) {
    CAPTURE(name);
    const std::string topology = name;
    const bool normed = topology.starts_with('p');
    Config config =
        config_of({.topology = name, .norm = normed ? "rmsnorm" : "none", .depth = 4, .width = 8});
    config.dtype = "f64";
    const Layer layer = make_layer(config, Rng(3));
    std::map<std::string, Tensor> p;  // by the ends of their names, away from their initial values
    for (NamedTensor& parameter : named_parameters(*layer.whole)) {
      if (parameter.name == "alpha") CHECK(parameter.tensor.item() == 0.5);  // 1/√depth
      assign(parameter.tensor,
             parameter.tensor.detach() +
                 Rng(5).split(parameter.name).normal(parameter.tensor.shape(), 0, 0.1, Dtype::f64));
      p[parameter.name] = parameter.tensor.detach();
    }
    const auto norm = [&](const Tensor& h) {
      return h / sqrt(mean(square(h), {-1}, true) + 1e-5) *
             (normed ? p.at(topology == "plain" ? "1.weight" : "norm.weight") : Tensor());
    };
    const auto f = [&](const Tensor& h) {
      return linear(relu(linear(h, p.at("body.0.weight"), p.at("body.0.bias"))), p.at("body.2.weight"),
                    p.at("body.2.bias"));
    };
    Tensor y;
    if (topology == "plain") y = relu(norm(linear(x, p.at("0.weight"), p.at("0.bias"))));
    if (topology == "residual") y = x + f(x);
    if (topology == "pre") y = x + f(norm(x));
    if (topology == "post") y = norm(x + f(x));
    if (topology == "skipinit") y = x + p.at("alpha") * f(x);
    if (topology == "rezero") y = x + p.at("resweight") * f(x);
    if (topology == "fixup")
      y = x +
          p.at("scale") * linear(relu(linear(x + p.at("bias1"), p.at("linear1.weight")) + p.at("bias2")),
                                 p.at("linear2.weight")) +
          p.at("bias3");
    const std::vector<double> got = (*layer.whole)(x).to_vector<double>(), wanted = y.to_vector<double>();
    for (size_t i = 0; i < got.size(); ++i) CHECK(got[i] == Approx(wanted[i]).epsilon(1e-12));
  }
}

TEST_CASE("nets that differ in one setting share all other random numbers") {
  const Config a = config_of({.width = 8});
  Config b = config_of({.topology = "pre", .norm = "rmsnorm", .depth = 2, .width = 8});
  b.dtype = "f64";
  const Net first(a, Rng(1)), second(b, Rng(1));
  CHECK(first.layers[1].linear1->weight.to_vector<float>() ==
        raw::cast(second.layers[1].linear1->weight, Dtype::f32).to_vector<float>());
}

TEST_CASE("a thousand layers run, and values of 1e-40 stay what they are") {
  Config config = config_of({.depth = 1000, .width = 16});
  config.batch = 4;
  CHECK(measure(config, 0).layers.back().output_std > 0.01);  // the plateau

  config.init = "default_nobias";
  config.depth = 100;
  const Signals signals = measure(config, 0);
  config.dtype = "f64";
  const Signals exact = measure(config, 0);
  const auto& denormal =
      *std::find_if(signals.layers.begin(), signals.layers.end(), [](const LayerSignal& layer) {
        return layer.output_std < 1e-39;  // the least normal f32 is 1.2e-38
      });
  const size_t layer = static_cast<size_t>(&denormal - signals.layers.data());
  CHECK(denormal.output_std > 0);
  // Some five digits are left of the values there; after many layers of such rounding, two.
  CHECK(denormal.output_std == Approx(exact.layers[layer].output_std).epsilon(0.01));
}

TEST_CASE("the reference has 87 nets, each with the same layers for both quantities") {
  const std::vector<Reference> references = depth_reference();
  CHECK(references.size() == 87);
  for (const Reference& reference : references) {
    CHECK(reference.config.seeds == 20);
    CHECK(reference.output_std.size() == 3);
    CHECK(reference.weight_gradient_norm.size() == 3);
    CHECK(reference.output_std.front().layer == 1);
    CHECK(reference.output_std.back().layer == reference.config.depth);
  }
}

TEST_CASE("agreement with the reference is a matter of standard errors, zeros and overflows") {
  const ReferenceCell cell{.layer = 1, .median = 2, .log10_sd = 0.1, .zeros = 0, .nonfinite = 0};
  const auto ours = [](double value, size_t count = 20) { return std::vector<double>(count, value); };
  CHECK(compare(cell, 20, ours(2)).agrees);
  CHECK(compare(cell, 20, ours(2 * std::pow(10, 0.159))).agrees);
  CHECK_FALSE(compare(cell, 20, ours(2 * std::pow(10, 0.161))).agrees);
  CHECK_FALSE(compare(cell, 20, ours(2 * std::pow(10, -0.161))).agrees);
  // Five seeds know less: √((1/20 + 1/5) / (1/20 + 1/20)) = 1.58 times.
  CHECK(compare(cell, 20, ours(2 * std::pow(10, 0.25), 5)).agrees);
  CHECK_FALSE(compare(cell, 20, ours(2 * std::pow(10, 0.26), 5)).agrees);

  std::vector<double> some_zeros = ours(2);
  for (int i = 0; i < 3; ++i) some_zeros[i] = 0;
  CHECK(compare(cell, 20, some_zeros).agrees);
  some_zeros[3] = 0;
  CHECK_FALSE(compare(cell, 20, some_zeros).agrees);
  std::vector<double> some_overflows = ours(2);
  for (int i = 0; i < 4; ++i) some_overflows[i] = i % 2 == 0 ? INFINITY : NAN;
  CHECK(compare(cell, 20, some_overflows).nonfinite == 4);
  CHECK_FALSE(compare(cell, 20, some_overflows).agrees);

  const ReferenceCell dead{.layer = 1, .median = 0, .log10_sd = 0, .zeros = 20, .nonfinite = 0};
  CHECK(compare(dead, 20, ours(0)).agrees);
  CHECK_FALSE(compare(dead, 20, ours(1e-45)).agrees);
}

TEST_CASE("agreement with theory is a matter of standard errors of a median") {
  // Logarithms −1, 0, 1: sd 1, median 0; SE = √(π/2) / √3 = 0.7236.
  const std::vector<double> values = {std::exp(-1), 1, std::exp(1)};
  CHECK(agreement_of({.median = std::exp(1), .log_sd = 0.5}, values).z == Approx(-1 / 0.7236).epsilon(1e-4));
  // A larger predicted spread takes the place of the measured one.
  CHECK(agreement_of({.median = std::exp(1), .log_sd = 2}, values).z == Approx(-0.5 / 0.7236).epsilon(1e-4));
  CHECK(agreement_of({.median = std::exp(2.17), .log_sd = 1}, values).agrees);
  CHECK_FALSE(agreement_of({.median = std::exp(2.18), .log_sd = 1}, values).agrees);
  // One seed has no spread of its own.
  CHECK(agreement_of({.median = 1, .log_sd = 1}, std::vector<double>{2}).z ==
        Approx(std::log(2) / 1.2533).epsilon(1e-4));

  const std::vector<double> dead = {0, 0, 1e-44}, overflowed = {INFINITY, NAN, 1e38};
  for (const auto& cell : {dead, overflowed})
    CHECK(std::isnan(agreement_of({.median = 1, .log_sd = 1}, cell).z));
  CHECK(agreement_of({.median = 1e-39, .log_sd = 1}, dead).agrees);
  CHECK_FALSE(agreement_of({.median = 1e-37, .log_sd = 1}, dead).agrees);
  CHECK(agreement_of({.median = 1e39, .log_sd = 1}, overflowed).agrees);
  CHECK_FALSE(agreement_of({.median = 1e38, .log_sd = 1}, overflowed).agrees);
}

// --- the program -------------------------------------------------------------------------------------------

TEST_CASE("decay_study prints one line and exits with 2 where a choice has no meaning") {
  const TemporaryFolder folder;
  const std::map<std::string, std::string> refused = {
      {"--topology skipinit --norm rmsnorm", "--norm rmsnorm has no place in --topology skipinit"},
      {"--topology rezero --norm dyt", "--norm dyt has no place in --topology rezero"},
      {"--topology fixup --norm layernorm", "--norm layernorm has no place in --topology fixup"},
      {"--topology residual --norm layernorm", "take pre or post"},
      {"--topology fixup --init he_normal", "--init he_normal has no meaning with --topology fixup"},
      {"--topology pre --norm rmsnorm --order relu_norm",
       "--order relu_norm has no meaning with --topology pre"},
      {"--order relu_norm", "--order relu_norm has no meaning without a norm"},
      {"--alpha 0.5", "--alpha has no meaning here"},
      {"--norm dyisru --alpha 0", "C of dyisru must be above 0"},
      {"--depth 0", "--depth: wanted a whole number from 1"},
      {"--width -3", "--width: wanted a whole number from 1"},
      {"--width 1 --batch 1", "the std of a single number is undefined"},
      {"--norm rmsnrm", "did you mean rmsnorm?"},
      {"--dpeth 3", "depth"},
      {"--preset depth_table --depth 5", "only --seeds and --seed can be given"},
  };
  for (const auto& entry : refused) {
    const std::string &arguments = entry.first, &message = entry.second;
    const std::string out = (folder.path() / "run").string();
    const Outcome outcome = run_program(arguments + " --out " + out, "2>&1");
    INFO(arguments, ": ", outcome.out);
    CHECK(outcome.code == 2);
    CHECK(outcome.out.find(message) != std::string::npos);
    CHECK(std::count(outcome.out.begin(), outcome.out.end(), '\n') == 1);
    CHECK_FALSE(std::filesystem::exists(out));
  }
}

TEST_CASE("decay_study writes the same layers with one thread and with two") {
  for (const std::string net : {"--width 512 --depth 3 --norm layernorm --loss random",
                                "--width 96 --depth 6 --topology pre --norm dyt --dtype f64"}) {
    const Json one = run_json("--seeds 2 --threads 1 " + net);
    const Json two = run_json("--seeds 2 --threads 2 " + net);
    CHECK(one.at("layers").dump() == two.at("layers").dump());
    CHECK(one.at("layers").size() == (net.find("--depth 3") != std::string::npos ? 3 : 6));
  }
}

TEST_CASE("a free run that overflows is a result: named infinities, exit 0") {
  const Json summary = run_json("--init normal01 --depth 100 --width 128 --seeds 2");
  const Json& top = summary.at("layers").back();
  CHECK(top.at("std").at("output").at("nonfinite") == 2);
  CHECK(top.at("std").at("output").at("median") == "nan");
  CHECK(top.at("std").at("norm").is_null());
}

TEST_CASE("blog8 says what the source prints, and compares our medians with PyTorch's ranges") {
  const TemporaryFolder folder;
  const Outcome outcome =
      run_program("--preset blog8 --seeds 20 --out " + (folder.path() / "run").string(), "2>&1");
  CHECK(outcome.out.find("claim D01: table 2.1: std after each of 8 layers, 0.8932 … 0.0163. refuted") !=
        std::string::npos);
  CHECK(outcome.out.find("claim D06: table 2.3: gradient norms 0.000012 … 0.432156. refuted") !=
        std::string::npos);
  CHECK(outcome.out.find("0.0163 as one more seed") != std::string::npos);
  const Json summary = run_json("--preset blog8 --seeds 20");
  CHECK(summary.at("expectations").size() == 16);
  for (const Json& expectation : summary.at("expectations")) CHECK(expectation.at("ok") == true);

  // Another net is not the source's: there is no verdict.
  const Outcome other =
      run_program("--preset blog8 --seeds 1 --depth 2 --out " + (folder.path() / "other").string(), "2>&1");
  CHECK(other.out.find("claim D01") == std::string::npos);
}

TEST_CASE("a preset with other seeds than PyTorch's is measured, and not compared") {
  for (const std::string preset : {"blog8", "blog8_rmsnorm"})
    for (const std::string seeds : {"1", "3"}) {
      const Json summary = run_json("--preset " + preset + " --seeds " + seeds);
      CHECK(summary.at("expectations").empty());
      CHECK(summary.at("measured").contains("layer8.std"));
    }
  const TemporaryFolder folder;
  const Outcome outcome = run_program("--seeds 1 --out " + (folder.path() / "run").string(), "2>&1");
  CHECK(outcome.out.find("Not compared with PyTorch's ranges") != std::string::npos);
}

TEST_CASE("decay_study publishes what claims need of every layer and of the net") {
  const Json measured = run_json("--depth 5 --width 32 --seeds 3 --topology residual").at("measured");
  for (const std::string key : {".std", ".grad_norm", ".ratio", ".output_mean_over_std",
                                ".linear_mean_over_std", ".along_one", ".linear_along_one"})
    CHECK(measured.contains("layer5" + key));
  CHECK(measured.at("layer5.along_one").at("theory") == Approx(1 / std::sqrt(32.0)));
  CHECK_FALSE(measured.contains("layer1.ratio"));
  for (const std::string key : {"std.last_over_first", "ratio.last_over_second"})
    CHECK(measured.at(key).at("theory").is_number());
  const auto median = [&](const std::string& key) { return measured.at(key).at("median").get<double>(); };
  CHECK(median("grad_norm.first_over_last") == Approx(1 / median("grad_norm.last_over_first")));
  for (const std::string mean : {"linear_mean", "output_mean"})
    CHECK(median(mean + ".lowest") < median(mean + ".highest"));
}

TEST_CASE(
    "BatchNorm makes the gradients of a plain chain grow by pi / (pi - 1) and more, other norms do not") {
  const auto growth = [](const std::string& flags) {
    return run_json("--init he_normal --loss random " + flags).at("measured").at("grad_norm.squared_growth");
  };
  // Many rows: the published limit. Four: κ and κ' of c = −1/3 by hand, (2 + κ + κ')/(1 − κ).
  CHECK(growth("--norm batchnorm --depth 3 --width 2 --batch 60000 --seeds 1").at("theory").get<double>() ==
        Approx(1.46694).epsilon(1e-4));
  const double theta = std::acos(-1.0 / 3), slope = 1 - theta / 3.14159265358979;
  const double kappa = std::sqrt(8.0) / 3 / 3.14159265358979 - slope / 3;
  CHECK(growth("--norm batchnorm --depth 3 --width 2 --batch 4 --seeds 1").at("theory").get<double>() ==
        Approx((2 + kappa + slope) / (1 - kappa)));
  CHECK_FALSE(growth("--norm batchnorm --depth 3 --width 2 --batch 3 --seeds 1").contains("theory"));
  CHECK_FALSE(growth("--norm rmsnorm --depth 3 --width 2 --seeds 1").contains("theory"));
  // 24 layers: seeds differ by 1 % at 32 rows, the mean of five by 0.5 %; 2 % besides for a width of 256.
  const Json measured = growth("--norm batchnorm --depth 48 --width 256 --batch 32 --seeds 5");
  CHECK(measured.at("mean").get<double>() == Approx(measured.at("theory").get<double>()).epsilon(0.03));
  for (const std::string norm : {"none", "layernorm", "rmsnorm"}) {
    CAPTURE(norm);
    const Json other = growth("--depth 48 --width 256 --batch 32 --seeds 5 --norm " + norm);
    CHECK(other.at("mean").get<double>() == Approx(1).epsilon(0.05));
  }
}

TEST_CASE("blog8_rmsnorm has a std of 1 before its ReLUs") {
  const Json summary = run_json("--preset blog8_rmsnorm --seeds 5");
  CHECK(summary.at("layers").at(0).at("std").at("norm").at("median").get<double>() ==
        Approx(1).epsilon(0.001));
}
