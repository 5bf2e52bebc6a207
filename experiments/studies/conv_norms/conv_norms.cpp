// Which norms suit convolutional nets and small batches? A small residual net learns digits.
//
// Claims: BatchNorm is worse in small batches (002 C16; Wu & He 2018, arXiv 1803.08494: 10.6 points behind GroupNorm at
// batch 2); it accelerates training (002 C17); LayerNorm does not depend on the batch (001 B28). The texts speak of
// images, large batches and BatchNorm; norm_motives asks the same of nets of Linears.
//
//   conv_norms                expected: README.md, "Predicted"; 2 minutes
//
// Net: net.h. Adam with a cosine down to a tenth. Nets of one seed see the same images in the same order, so that
// small batches have more steps; large ones have at least --least_steps, and see more images. The rate is each net's
// best at each batch size, by the validation loss of seeds that judge nothing (run/sweep.h). Reported are test images.
// BatchNorm is evaluated with its running statistics and, as "accuracy_with_own_statistics", with those of batches of
// the training's size. `images_to_target` are the images until the running mean of the training losses, over some 256
// images, is below --target (all, where it never is). `change` is how far the logits of an image move, in training,
// when it is alone instead of in a batch, over their root mean square.
#include "../../../data/loader.h"
#include "../../../optim/optim.h"
#include "../../nets/digits/digits.h"
#include "../../run/measurements.h"
#include "../../run/program.h"
#include "net.h"

using namespace isobar;
using namespace isobar::conv_norms;

namespace {

struct Job {
  std::string label, net;
  int64_t batch;
  double rate;
  bool judges;
  uint64_t seed = 0;

  Json settings() const {
    return {{"net", net}, {"batch", batch}, {"learning_rate", rate}, {"judges", judges}, {"seed", seed}};
  }
};

std::string label_of(const std::string& net, int64_t batch) { return fmt::format("b{}.{}", batch, net); }

struct Score {
  double loss = 0, accuracy = 0;
};
// Over the first `count` images, in whole batches of this size; in the net's mode.
Score evaluate(ConvNet& net, const depth::Part& images, int64_t count, int64_t batch_size) {
  Score score;
  const int64_t batch = std::min({batch_size, count, images.size()});
  const int64_t whole = std::min(count, images.size()) / batch * batch;
  for (int64_t first = 0; first < whole; first += batch) {
    std::vector<int64_t> numbers(static_cast<size_t>(batch));
    std::iota(numbers.begin(), numbers.end(), first);
    const auto [x, y] = images.batch(numbers);
    const Tensor logits = net(x);
    const double share = static_cast<double>(batch) / static_cast<double>(whole);
    score.loss += share * cross_entropy(logits, y).item();
    score.accuracy += share * mean(cast(argmax(logits, -1) == y, Dtype::f64)).item();
  }
  // What a training that diverged has cannot be averaged: it is as bad as guessing.
  if (!std::isfinite(score.loss)) score = {std::log(10), 0.1};
  return score;
}

// Std of each block's output and norm of its gradient, in one step.
void take_signals(const Probe& probe, int64_t depth, const std::string& when, NamedValues& values) {
  for (int64_t l = 0; l < depth; ++l) {
    const ModuleSignal* signal = probe.find(fmt::format("blocks.{}", l));
    const double nan = std::numeric_limits<double>::quiet_NaN();
    values[fmt::format("{}.std.block{}", when, l + 1)] = signal ? signal->output.std : nan;
    values[fmt::format("{}.output_grad_norm.block{}", when, l + 1)] = signal ? signal->gradient_norm : nan;
  }
  const std::string last = fmt::format("block{}", depth);
  values[when + ".std.last_over_first"] =
      values[fmt::format("{}.std.{}", when, last)] / values[when + ".std.block1"];
  values[when + ".output_grad_norm.first_over_last"] =
      values[when + ".output_grad_norm.block1"] / values[fmt::format("{}.output_grad_norm.{}", when, last)];
}

NamedValues train_net(const Config& config, const depth::Digits& digits, const Job& job) {
  const Rng rng(job.seed);
  ConvNet net(job.net, config.depth, config.channels, rng.split("net"));
  const std::vector<Tensor> all = parameters(net);
  Adam optimizer(all, {.lr = job.rate});
  const int64_t steps = std::max(config.images / job.batch, config.least_steps);
  const WarmupCosine schedule{.lr = job.rate, .min_lr = job.rate / 10, .warmup = 0, .steps = steps};
  const Permutation order(digits.train.size(), rng.split("order"));
  NamedValues values{{"rate", job.rate}, {"images_to_target", static_cast<double>(steps * job.batch)}};
  double running = std::log(10);
  const double share = static_cast<double>(job.batch) / static_cast<double>(job.batch + 256);
  for (int64_t step = 0; step < steps; ++step) {
    std::vector<int64_t> numbers;
    for (int64_t i = step * job.batch; i < (step + 1) * job.batch; ++i)
      numbers.push_back(order(i % digits.train.size()));
    const auto [x, y] = digits.train.batch(numbers);
    Probe probe;
    std::optional<Watch> watch;
    if (job.judges && (step == 0 || step == steps - 1)) watch.emplace(net, probe);
    Tape tape;
    const Tensor loss = cross_entropy(net(x), y);
    tape.backward(loss);
    running += share * (loss.item() - running);
    if (!std::isfinite(running)) break;
    optimizer.set_lr(schedule(step));
    optimizer.step();
    double& images = values["images_to_target"];
    if (running < config.target) images = std::min(images, static_cast<double>((step + 1) * job.batch));
    if (watch && step == 0) take_signals(probe, config.depth, "start", values);
    if (watch && step == steps - 1) take_signals(probe, config.depth, "end", values);
  }
  if (job.judges && !values.contains("end.std.last_over_first"))  // it diverged
    take_signals({}, config.depth, "end", values);
  eval(net);
  if (!job.judges) {
    values["validation_loss"] = evaluate(net, digits.validation, config.validated, 250).loss;
    return values;
  }
  const Score score = evaluate(net, digits.test, digits.test.size(), 250);
  values["loss"] = score.loss;
  values["accuracy"] = score.accuracy;
  // Last: in training BatchNorm's running statistics move with what it sees.
  train(net);
  const Batch few = digits.test.batch(std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 7});
  const Tensor together = slice(net(few.x), 0, 0, 1), alone = net(slice(few.x, 0, 0, 1));
  values["change"] = moments_of(alone - together).rms / moments_of(alone).rms;
  if (job.net == "batchnorm")
    values["accuracy_with_own_statistics"] =
        evaluate(net, digits.test, digits.test.size(), job.batch).accuracy;
  return values;
}

// In batches of 1 BatchNorm is instance norm: group_norm with a group for each channel.
void expect_instance_norm(Run& run, int64_t channels) {
  const Tensor x = Rng(run.seed()).normal({1, channels, 14, 14}, 3, 2);
  BatchNorm2d batch_norm(channels);
  GroupNorm instance_norm(channels, channels);
  const double difference = moments_of(batch_norm(x) - instance_norm(x)).rms;
  run.measured("oracle.batch1_minus_instance_norm", difference, 0);
  run.expect("in batches of 1 BatchNorm is instance norm", difference < 1e-6,
             fmt::format("rms of the difference {:.1e}", difference));
}

// By block, at the end of training with the largest batches, the mean over the seeds.
void plot_signals(const Pairs<Job>& pairs, const Config& config) {
  const int64_t batch = std::ranges::max(config.batches);
  const auto plot = [&](const std::string& name, const Phrase& title, const Phrase& y) {
    Plot drawn{.title = title, .x = {"block", "块"}, .y = y, .log = true, .key = name};
    for (const std::string& net : config.nets) {
      PlotCurve curve{net};
      for (int64_t l = 1; l <= config.depth; ++l) {
        curve.x.push_back(static_cast<double>(l));
        curve.y.push_back(pairs.mean_of(label_of(net, batch), fmt::format("end.{}.block{}", name, l)));
      }
      drawn.curves.push_back(std::move(curve));
    }
    pairs.run.plot(drawn);
  };
  plot("std", {"std of the blocks' outputs after training", "训练后各块输出的标准差"}, {"std", "标准差"});
  plot("output_grad_norm", {"gradient of the blocks' outputs after training", "训练后各块输出的梯度"},
       {"norm", "范数"});
}

void study(Run& run, const Config& config) {
  const depth::Digits digits = depth::read_digits("");
  digits.announce(run);
  expect_instance_norm(run, config.channels);
  const auto train_one = [&](const Job& job) { return train_net(config, digits, job); };
  Pairs<Job> pairs{run, config.seeds, train_one};
  std::vector<std::vector<Job>> candidates;
  for (const int64_t batch : config.batches)
    for (const std::string& net : config.nets) {
      candidates.emplace_back();
      for (const double rate : config.learning_rates)
        candidates.back().push_back({label_of(net, batch), net, batch, rate, false});
    }
  std::vector<Job> best = pairs.best_of(candidates, config.sweep_seeds, "validation_loss");
  for (Job& job : best) job.judges = true;
  pairs.train_all(best);

  for (const Job& job : best) {
    pairs.tell(job.label, {"rate", "accuracy", "loss", "images_to_target", "change",
                           "start.std.last_over_first", "start.output_grad_norm.first_over_last",
                           "end.std.last_over_first", "end.output_grad_norm.first_over_last"});
    for (const char* other : {"none", "groupnorm", "layernorm"}) {
      const std::string plain = label_of(other, job.batch);
      if (job.net == other || !pairs.runs.contains(plain)) continue;
      pairs.minus(job.label, {"accuracy"}, plain);
      pairs.over(job.label, {"images_to_target"}, plain);
    }
    if (job.net == "batchnorm") pairs.tell(job.label, {"accuracy_with_own_statistics"});
  }
  // What BatchNorm loses from the largest batches to each other size, beyond what GroupNorm loses.
  const int64_t most = std::ranges::max(config.batches);
  for (const int64_t batch : config.batches) {
    const std::string norms[] = {label_of("batchnorm", batch), label_of("groupnorm", batch),
                                 label_of("batchnorm", most), label_of("groupnorm", most)};
    if (batch == most ||
        !std::ranges::all_of(norms, [&](const auto& label) { return pairs.runs.contains(label); }))
      continue;
    for (size_t i = 0; i < static_cast<size_t>(config.seeds); ++i) {
      const auto accuracy = [&](size_t n) { return pairs.runs.at(norms[n])[i].at("accuracy"); };
      pairs.measurements.add(fmt::format("{}.accuracy_minus_groupnorm_minus_b{}", norms[0], most),
                             accuracy(0) - accuracy(1) - (accuracy(2) - accuracy(3)));
    }
  }
  pairs.publish();
  pairs.measurements.print(run);
  plot_signals(pairs, config);
}

}  // namespace

int main(int argc, char** argv) {
  Config config;
  return run_program(
      {.name = "conv_norms",
       .about = "Which norms suit convolutional nets and small batches?",
       .example = "conv_norms --nets batchnorm,groupnorm --batches 4",
       .page = "studies/conv_norms/README.md",
       .trained =
           {{.of = "oracle."},
            {.en = "a convolutional net of {depth} residual blocks of {channels} channels, at least {images} "
                   "{digits} and {least_steps} steps, best rate of {learning_rates}",
             .zh =
                 "{depth} 个残差块、{channels} 通道的卷积网络，至少 {images} 张{digits}与 {least_steps} 步，学习率取 "
                 "{learning_rates} 中最佳"}},
       .presets = {{"quick", "1,024 images, 3 seeds"},
                   {"full", "4,096 images, 6 seeds", "--images 4096 --least_steps 96 --seeds 6"}},
       .tiny = "--channels 4 --depth 2 --images 8 --least_steps 1 --validated 250 --batches 1,4 --seeds 1 "
               "--learning_rates 1e-2",
       .shares = true},
      config, argc, argv, [&](Run& run) { study(run, config); });
}
