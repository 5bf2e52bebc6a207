// Which norms suit a recurrent net? It reads a digit in time steps, row by row, and names it at the end.
//
// Claims: LayerNorm suits RNNs (sources 001 B21 and 002), BatchNorm does not (002 C02).
//
// h' = tanh(N(W_ih x + b_ih + W_hh h + b_hh)) with PyTorch's default weights, the last state → 10 digits;
// Adam, gradients clipped at norm 1. BatchNorm has each time step's statistics in training, and one set of
// running ones in evaluation. The rate is each net's best by the validation loss of seeds that judge nothing
// (run/sweep.h); reported are test images.
#include "../../../autograd/tape.h"
#include "../../../data/loader.h"
#include "../../../nn/linear.h"
#include "../../../nn/model.h"
#include "../../../nn/observe.h"
#include "../../../nn/rnn_cell.h"
#include "../../../optim/optim.h"
#include "../../nets/digits/digits.h"
#include "../../run/measurements.h"
#include "../../run/program.h"

using namespace isobar;

namespace {

constexpr int64_t sweep_size = 3;  // seeds that choose the rates

struct Config : HasFields {
  std::vector<std::string> norms = {"none", "batchnorm", "layernorm", "rmsnorm"};
  std::vector<int64_t> lengths = {28};
  std::vector<double> learning_rates = {1e-3, 3e-3, 1e-2};
  int64_t hidden = 64, batch = 50, steps = 300, seeds = 5;

  void fields(Fields& f) override {
    f("norms", norms, "norms of the state", one_of(norm_names()));
    f("lengths", lengths, "time steps, divisors of 784", between(1, 784));
    f("learning_rates", learning_rates, "learning rates of Adam; each net has its best one", above(0));
    f("hidden", hidden, "size of the state", at_least(1));
    f("batch", batch, "images a step", at_least(1));
    f("steps", steps, "steps of a training", at_least(1));
    f("seeds", seeds, "runs of each net at its best rate", at_least(1));
  }
};

// |dL/dh_t| of every time step t, the last first, as backward gives them.
struct StateGradients : Observer {
  std::vector<double> norms;
  void on_output(const Module&, const Tensor&) override {}
  void on_output_gradient(const Module& module, const Tensor& dh) override {
    if (dynamic_cast<const RNNCell*>(&module) != nullptr) norms.push_back(moments_of(dh).norm);
  }
};

struct Job {
  std::string label, norm;
  int64_t length;
  double rate;
  uint64_t seed = 0;

  Json settings() const {
    return {{"net", label}, {"norm", norm}, {"length", length}, {"learning_rate", rate}, {"seed", seed}};
  }
};

// Nets of one seed and length begin with the same weights and see the same batches.
NamedValues train_net(const Config& config, const depth::Digits& digits, const Job& job) {
  const Rng rng(job.seed);
  RNNCell cell(784 / job.length, config.hidden, rng.split("cell"), {.norm = job.norm});
  Linear head(config.hidden, 10, rng.split("head"));
  const auto logits_of = [&](const Tensor& x) {
    Tensor h = zeros({x.size(0), config.hidden});
    for (const Tensor& pixels : split(x, 784 / job.length, 1)) h = cell(pixels, h);
    return head(h);
  };
  std::vector<Tensor> all = parameters(cell);
  all.insert(all.end(), {head.weight, head.bias});
  Adam optimizer(all, {.lr = job.rate});
  const Loader loader(digits.train, {.batch_size = config.batch, .drop_last = true}, rng.split("batches"));
  NamedValues values{{"rate", job.rate}};
  for (int64_t step = 0; step < config.steps; ++step) {
    const Batch batch = loader.epoch(step / loader.size()).batch(step % loader.size());
    StateGradients gradients;
    std::optional<Watch> watch;
    if (step == 0 || step == config.steps - 1) watch.emplace(cell, gradients);
    Tape tape;
    tape.backward(cross_entropy(logits_of(batch.x), batch.y));
    optimizer.step(clip_factor(grad_norm(all), 1));
    const std::vector<double>& norms = gradients.norms;
    if (norms.empty()) continue;
    values[step == 0 ? "output_grad_norm.first_over_last" : "output_grad_norm_at_the_end.first_over_last"] =
        norms.back() / norms.front();
    for (size_t back = 0; step == 0 && back < norms.size(); ++back)
      values[fmt::format("gradient of {} back", back)] = norms[back] / norms.front();
  }
  const auto evaluate = [&](const depth::Part& images, const char* loss, const char* accuracy) {
    for (const auto& [x, y] : Loader(images, {.batch_size = 500, .shuffle = false}, rng).epoch(0)) {
      const Tensor logits = logits_of(x);
      const double share = static_cast<double>(y.numel()) / static_cast<double>(images.size());
      values[loss] += share * cross_entropy(logits, y).item();
      values[accuracy] += share * mean(cast(argmax(logits, -1) == y, Dtype::f64)).item();
    }
  };
  {
    const Evaluation here(cell);
    evaluate(digits.validation, "validation_loss", "validation_accuracy");
    evaluate(digits.test, "loss", "accuracy");
  }
  // Last: in training BatchNorm keeps the statistics of what it sees.
  evaluate(digits.test, "loss_with_own_statistics", "accuracy_with_own_statistics");
  return values;
}

// W_hh has a gain of 1/√3, and tanh a slope of at most 1. One draw of 64 × 64 numbers differs from that gain
// by some 3 % a step; a twentieth leaves room for the mean of a few.
void expect_fall(Run& run, const std::string& key, const std::vector<NamedValues>& runs, int64_t length) {
  double logs = 0;
  for (const NamedValues& values : runs) logs += std::log(values.at("output_grad_norm.first_over_last"));
  const double a_step = std::exp(logs / static_cast<double>(std::ssize(runs) * (length - 1)));
  const double most = 1.05 / std::numbers::sqrt3;
  run.expect(key + ": the gradient falls by √3 a step or more", a_step < most,
             fmt::format("to {:.4f} of itself in the geometric mean, below {:.4f}", a_step, most));
}

void study(Run& run, const Config& config) {
  const std::vector<std::string>& norms = config.norms;
  const std::vector<int64_t>& lengths = config.lengths;
  const std::vector<double>& rates = config.learning_rates;
  for (const int64_t length : lengths)
    check(784 % length == 0, "--lengths: wanted divisors of the 784 pixels, such as 28, got {}", length);
  const auto net = [](const std::string& norm, int64_t length) {
    return fmt::format("T{}.{}", length, norm);
  };
  std::vector<std::vector<Job>> candidates;
  for (const int64_t length : lengths)
    for (const std::string& norm : norms) {
      candidates.emplace_back();
      for (const double rate : rates) candidates.back().push_back({net(norm, length), norm, length, rate});
    }
  const depth::Digits digits = depth::read_digits("");
  digits.announce(run);
  Pairs<Job> pairs{run, config.seeds, [&](const Job& job) { return train_net(config, digits, job); }};
  pairs.train_all(pairs.best_of(candidates, sweep_size, "validation_loss"));

  Plot plot{.title = {"gradient of the state at the first batch, mean", "首个批次处状态的梯度（平均）"},
            .x = {"time steps before the last", "距最后一步的时间步数"},
            .y = {"norm over that of the last", "范数与最后一步之比"},
            .log = true,
            .key = "state_gradient"};
  for (const int64_t length : lengths)
    for (const std::string& norm : norms) {
      const std::string key = net(norm, length), plain = net("none", length);
      pairs.tell(key, {"rate", "loss", "accuracy", "accuracy_with_own_statistics",
                       "output_grad_norm.first_over_last", "output_grad_norm_at_the_end.first_over_last"});
      if (key != plain && pairs.runs.contains(plain)) {
        pairs.minus(key, {"accuracy", "accuracy_with_own_statistics"}, plain);
        pairs.over(key, {"output_grad_norm.first_over_last"}, plain);
      }
      PlotCurve curve{key};
      for (int64_t back = 0; back < length; ++back) {
        curve.x.push_back(static_cast<double>(back));
        curve.y.push_back(pairs.mean_of(key, fmt::format("gradient of {} back", back)));
      }
      plot.curves.push_back(std::move(curve));
      if (norm == "none" && run.preset_unchanged()) expect_fall(run, key, pairs.runs.at(key), length);
    }
  pairs.publish();
  pairs.measurements.print(run);
  run.plot(plot);
}

const std::vector<TrainedOn> trained = {
    {.en = "an RNN of {hidden} units, {steps} steps of Adam on {digits}, best rate of {learning_rates}",
     .zh = "{hidden} 个单元的 RNN，在{digits}上用 Adam 训练 {steps} 步，学习率取 {learning_rates} 中最佳"}};

}  // namespace

int main(int argc, char** argv) {
  Config config;
  return run_program({.name = "recurrent_norms",
                      .about = "Which norms suit a recurrent net that reads digits?",
                      .example = "recurrent_norms --norms none,layernorm --lengths 56",
                      .page = "studies/recurrent_norms/README.md",
                      .trained = trained,
                      .presets = {{"quick", "28 time steps"},
                                  {"full", "28 and 112 time steps", "--lengths 28,112 --seeds 24"}},
                      .tiny = "--hidden 4 --steps 2 --seeds 1 --learning_rates 1e-2",
                      .shares = true},
                     config, argc, argv, [&](Run& run) { study(run, config); });
}
