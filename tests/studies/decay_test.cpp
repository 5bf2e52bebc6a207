// The nets of decay_study, and what is measured in them.
#include <doctest/doctest.h>

#include "../../experiments/studies/decay_study/output.h"
#include "decay_nets.h"

namespace isobar::decay_test {

using namespace isobar::decay;
using doctest::Approx;

TEST_CASE("one layer's values are those of its arithmetic, written out") {
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
  const Tensor z = matmul(x, transpose(linear1.weight.detach())) + linear1.bias.detach(), y = relu(z);
  const Tensor slopes = where(z > 0.0, 1.0, zeros(z.shape(), Dtype::f64));
  const Tensor dw = matmul(transpose(slopes), x);  // of the sum of all y
  const auto std_of = [](const Tensor& v) { return std_dev(v).item(); };
  const auto along_one = [](const Tensor& v) {  // mean squared cosine of each row and (1, 1, 1, 1)
    return sqrt(mean(square(sum(v, {-1})) / (4 * sum(square(v), {-1})))).item();
  };

  CHECK(signals.input_std == Approx(std_of(x)));
  CHECK(layer.linear_std == Approx(std_of(z)));
  CHECK(layer.linear_mean == Approx(mean(z).item()));
  CHECK(std::isnan(layer.norm_std));
  CHECK(layer.relu_std == Approx(std_of(y)));
  CHECK(layer.output_std == Approx(std_of(y)));
  CHECK(layer.output_mean == Approx(mean(y).item()));
  CHECK(layer.linear_along_one == Approx(along_one(z)));
  CHECK(layer.output_along_one == Approx(along_one(y)));
  CHECK(layer.across_batch_std == Approx(mean(std_dev(y, std::vector<int>{0})).item()));
  CHECK(layer.weight_gradient_norm == Approx(sqrt(sum(square(dw))).item()));
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
            Approx(theory[layer].output_std.median).epsilon(0.15).scale(0));
      CHECK(layer_spread(runs, layer, &LayerSignal::weight_gradient_norm).median ==
            Approx(theory[layer].weight_gradient_norm.median).epsilon(0.3).scale(0));
    }
  }
}

// The mean of ln over seeds of a wide net, beside theory.
double excess(const std::vector<Signals>& runs, const Config& config, double LayerSignal::*measured,
              Prediction LayerTheory::*predicted) {
  const size_t top = measured == &LayerSignal::output_std ? runs[0].layers.size() - 1 : 0;
  double sum = 0;
  for (const double value : layer_values(runs, top, measured)) sum += std::log(value);
  return sum / static_cast<double>(runs.size()) - std::log((theory_of(config)[top].*predicted).median);
}

TEST_CASE("nets of another activation follow the closed forms") {
  const Choice nets[] = {
      {.init = "he_normal", .loss = "random", .activation = "gelu"},
      {.loss = "random", .activation = "silu"},
      {.init = "he_normal", .loss = "random", .activation = "tanh"},
      {.init = "lecun_normal", .loss = "random", .activation = "none"},
      {.init = "lecun_normal", .activation = "none"},
      {.loss = "mean", .activation = "none"},
      {.init = "he_normal", .norm = "rmsnorm", .loss = "random", .activation = "silu"},
      {.norm = "layernorm", .loss = "random", .activation = "tanh"},
      {.topology = "pre", .init = "he_normal", .norm = "rmsnorm", .loss = "random", .activation = "gelu"},
      {.topology = "residual", .loss = "sum", .activation = "none"},
  };
  for (Choice net : nets) {
    net.depth = 4;
    net.width = 256;
    const Config config = config_of(net);
    INFO(config.net_name());
    std::vector<Signals> runs;
    for (int64_t seed = 0; seed < 16; ++seed) runs.push_back(measure(config, seed));
    // ln of a mean square after 4 layers has a variance of 5 · 4 / 256 at most, ln of its root a quarter: three
    // standard errors of a mean of 16 are 0.10. It lies 5 · 4 / (4 · 256) = 0.02 below infinite width.
    CHECK(std::abs(excess(runs, config, &LayerSignal::output_std, &LayerTheory::output_std)) < 0.12);
    CHECK(std::abs(excess(runs, config, &LayerSignal::weight_gradient_norm,
                          &LayerTheory::weight_gradient_norm)) < 0.12);
  }
}

TEST_CASE("ln of a plain net's std scatters as Hanin and Nica have it") {
  struct Case {
    const char* init;
    double beta;
  };
  for (const auto& [init, beta] :
       {Case{"he_normal", 5}, Case{"he_uniform", 5}, Case{"orthogonal_sqrt2", 3}}) {
    Config config = config_of({.init = init, .depth = 24, .width = 48});
    config.batch = 1;
    constexpr int nets = 150;
    double sum = 0, squares = 0;
    for (int64_t seed = 0; seed < nets; ++seed) {
      const double log_std = std::log(measure(config, seed).layers.back().output_std);
      sum += log_std;
      squares += log_std * log_std;
    }
    const double sd = std::sqrt((squares - sum * sum / nets) / (nets - 1));
    INFO(config.net_name());
    // Three standard errors of an sd of 150 nets, 1/√300 = 0.06 each, and the next order in 1/48.
    CHECK(sd == Approx(std::sqrt(beta * 24 / 48) / 2).epsilon(0.2).scale(0));
    CHECK(sd == Approx(theory_of(config).back().output_std.log_sd).epsilon(0.2).scale(0));
    // Three standard errors of the mean.
    CHECK(std::abs(sum / nets - std::log(theory_of(config).back().output_std.median)) <
          3 * sd / std::sqrt(nets));
  }
}

TEST_CASE("ln of a gradient scatters by depth over width where norms are") {
  const Choice nets[] = {
      {.init = "he_normal", .norm = "rmsnorm", .loss = "random"},
      {.init = "default", .norm = "layernorm", .loss = "random"},
      {.topology = "post", .init = "he_normal", .norm = "rmsnorm", .loss = "random"},
      {.topology = "post", .init = "xavier_normal", .norm = "layernorm", .loss = "random"},
  };
  for (Choice net : nets) {
    net.depth = 24;
    net.width = 32;
    for (const int64_t batch : {1, 16}) {
      Config config = config_of(net);
      config.batch = batch;
      INFO(config.net_name(), ", batch ", batch);
      std::vector<double> values;
      for (int64_t seed = 0; seed < 100; ++seed)
        values.push_back(measure(config, seed).layers.front().weight_gradient_norm);
      const Prediction predicted = theory_of(config).front().weight_gradient_norm;
      CHECK(std::abs(agreement_of({.median = predicted.median}, values).z) < 3);
      // Three standard errors of an sd of 100 nets are 0.21; the rest is the next order in 1/32.
      CHECK(predicted.log_sd == Approx(spread_of(values).logarithm.sd).epsilon(0.3).scale(0));
    }
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
  }
  const Choice centred{.topology = "post", .norm = "layernorm"};
  CHECK(theory_at(centred, 8).along_one == 0);
  CHECK(measure(config_of(centred), 0).layers.back().output_along_one < 1e-6);  // rounding in f32

  for (const char* norm : {"none", "rmsnorm", "layernorm"}) {
    const double plain = measure(config_of({.norm = norm}), 0).layers.back().output_along_one;
    // 1/√π = 0.564; each of 128 features adds to the share's scatter: √(1/128) / 2 = 0.04 at most.
    CHECK(plain == Approx(theory_at({.norm = norm}, 8).along_one).epsilon(0.15).scale(0));
  }
  CHECK(theory_at({.width = 16384}, 1).along_one == Approx(0.56419).epsilon(1e-4));
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
  CHECK(denormal.output_std == Approx(exact.layers[layer].output_std).epsilon(0.01).scale(0));
}

}  // namespace isobar::decay_test
