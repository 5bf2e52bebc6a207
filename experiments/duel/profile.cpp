#include "profile.h"

#include "../../core/parallel.h"
#include "../../core/serial_loops.h"
#include "../../nn/check/check.h"
#include "../../optim/optim.h"
#include "../nets/decay/net.h"

namespace isobar::duel {

Checked check_norm(const Contestant& contestant) {
  const Tensor x = Rng(1).normal({2, 5, 7});
  const auto make = [&] { return norm_of(contestant, 7); };
  LayerReport report = check_layer(make, x, {.output_shape = x.shape(), .causal = true});
  const auto causal = std::ranges::find(report.checks, "causal", &LayerCheck::name);
  const bool looks_ahead = causal != report.checks.end() && causal->outcome == LayerCheck::failed;
  if (causal != report.checks.end()) report.checks.erase(causal);  // no mistake of a norm
  const std::string text = report.text();
  return {report.passed(), looks_ahead, text.substr(0, text.find('\n')), text};
}

namespace {

// Of each layer: std of its output, and norm of the gradient of its weights.
struct Flow {
  std::vector<double> signal, gradient;
};

Flow flow_through(const Contestant& contestant, int64_t layers, int64_t seed) {
  LmConfig settings;
  contestant.apply_to(settings);
  decay::Config config;
  config.depth = layers;
  config.width = 64;
  config.init = "he_normal";
  config.norm = settings.norm;
  config.loss = "random";
  config.alpha = settings.alpha;
  const Rng rng(static_cast<uint64_t>(seed));
  decay::Net net(config, rng.split("net"));
  const Tensor x = rng.split("x").normal({config.batch, config.width});
  std::vector<Tensor> outputs;
  {
    Tape tape;
    Tensor y = x;
    for (const decay::Layer& layer : net.layers) outputs.push_back(y = (*layer.whole)(y));
    tape.backward(decay::loss_of(config.loss, y, rng.split("loss")));
  }
  Flow flow;
  for (size_t i = 0; i < outputs.size(); ++i) {
    flow.signal.push_back(moments_of(outputs[i].detach()).std);
    flow.gradient.push_back(moments_of(net.layers[i].linear1->weight.grad()).norm);
  }
  return flow;
}

// The first number of layers away from values[0] at which the median over the seeds is dead; 0: none.
int64_t dies(const std::vector<std::vector<double>>& of_seeds) {
  for (size_t layer = 1; layer < of_seeds[0].size(); ++layer) {
    const double ratio = spread_over(of_seeds, [&](const std::vector<double>& values) {
                           return values[layer] / values[0];
                         }).median;
    if (!(ratio >= dead && ratio <= 1 / dead)) return static_cast<int64_t>(layer);
  }
  return 0;
}

}  // namespace

Deep deep_nets(const Contestant& contestant, int64_t seed) {
  constexpr int64_t seeds = 3;
  Deep deep{};
  size_t at = 0;
  for (const int64_t layers : {8, 100, 1000}) {
    std::vector<std::vector<double>> signals, gradients;
    std::vector<Flow> flows(seeds);
    parallel_tasks(seeds, [&](int64_t i) {
      flows[static_cast<size_t>(i)] = flow_through(contestant, layers, seed + i);
    });
    for (const Flow& flow : flows) {
      signals.push_back(flow.signal);
      gradients.emplace_back(flow.gradient.rbegin(), flow.gradient.rend());  // from the loss down
    }
    const auto end = [](const std::vector<double>& values) { return values.back() / values.front(); };
    deep.depths[at++] = {layers, spread_over(signals, end).median, spread_over(gradients, end).median};
    deep.signal_dies = dies(signals), deep.gradient_dies = dies(gradients);
  }
  return deep;
}

speed::Step training_step(std::shared_ptr<Module> net, std::function<Tensor(Module& net)> loss) {
  const auto optimizer = std::make_shared<AdamW>(parameters(*net), AdamWOptions{.lr = 1e-3});
  return [net = std::move(net), loss = std::move(loss), optimizer] {
    {
      Tape tape;
      tape.backward(loss(*net));
    }
    optimizer->step();
  };
}

namespace {

speed::Step norm_step(const Contestant& contestant) {
  const std::shared_ptr<Module> norm = norm_of(contestant, 64);
  const Tensor x = Rng(1).split("x").normal({512, 64}).set_trainable(),
               dy = Rng(1).split("dy").normal({512, 64});
  return [norm, x, dy] {
    {
      Tape tape;
      tape.backward((*norm)(x), dy);
    }
    x.clear_grad();
    clear_gradients(parameters(*norm));
  };
}

// Of the second step, where the optimizer's state is there; on one thread: each further one keeps scratch
// memory.
double peak_bytes(const Contestant& contestant, const StepMaker& make_step) {
  const WithThreads one(1);
  const size_t before = memory::stats().bytes_in_use;
  const speed::Step step = make_step(contestant);
  step();
  memory::reset_peak();
  step();
  return static_cast<double>(memory::stats().peak_bytes - before);
}

}  // namespace

Costs costs_of(const Contestant& a, const Contestant& b, const StepMaker& make_step, double turn_seconds) {
  constexpr int64_t rounds = 3 * speed::group_count;
  Costs costs;
  costs.bytes_a = peak_bytes(a, make_step);
  costs.bytes_b = peak_bytes(b, make_step);
  speed::Rounds norms({norm_step(a), norm_step(b)}, 2e-3), steps({make_step(a), make_step(b)}, turn_seconds);
  speed::Machine machine;
  for (int64_t round = 0; round < rounds; ++round) norms.round(), steps.round(), machine.turn();
  costs.norm = spread_of(norms.best_quotients(0, 1));
  costs.step = spread_of(steps.best_quotients(0, 1));
  costs.seconds_a = std::ranges::min(steps.seconds()[0]);
  costs.seconds_b = std::ranges::min(steps.seconds()[1]);
  costs.busy = machine.disturbance({costs.norm.values, costs.step.values}).busy();
  return costs;
}

}  // namespace isobar::duel
