// isobar bench: compares six training steps with this machine's limits.
//
// A step moves bytes or multiplies; the least that it must do, divided by its time, is compared with what the machine
// does of the same kind at that moment: a triad a = b + s · c over as many bytes, or products of 512 × 512. Each step is
// timed in turns with its limit, so that a machine whose clock changes changes both.
#include <chrono>

#include <fmt/ranges.h>

#include "../../autograd/autograd.h"
#include "../../core/kernels/vec.h"
#include "../../core/parallel.h"
#include "../../nn/lm/lm.h"
#include "../../nn/nn.h"
#include "../../optim/optim.h"
#include "../run/environment.h"
#include "../run/machine_limits.h"
#include "../run/stats.h"
#include "../run/table.h"
#include "../run/tool.h"
#include "verbs.h"

namespace isobar::verbs {
namespace {

using Step = std::function<void()>;
using Clock = std::chrono::steady_clock;

// What is timed. Of the least that it must do, one of the two counts is 0.
struct Row {
  std::string name;
  double bytes = 0, flops = 0;
  double footprint = 0;  // bytes of memory that it touches, where it moves bytes
  std::function<Step()> setup;
};

// Forward and backward of an elementwise or row-wise op of x (N, C) in f32: x is read and y written, then dy and x are
// read and dx written.
Row row_of_op(const std::string& name, int64_t n, int64_t c, std::function<Tensor(const Tensor&)> f) {
  const double array = 4.0 * static_cast<double>(n * c);
  return {.name = fmt::format("{} of {} × {}", name, n, c),
          .bytes = 5 * array,
          .footprint = 4 * array,
          .setup = [n, c, f = std::move(f)] {
            return Step([x = Rng(0).split("x").normal({n, c}).set_trainable(),
                         dy = Rng(0).split("dy").normal({n, c}), f] {
              Tape tape;
              tape.backward(f(x), dy);
              x.clear_grad();
            });
          }};
}

// 2 flops for each entry of a window of 3 × 3: forward, for dx and for dw.
Row row_of_convolution() {
  constexpr int64_t n = 64, c = 32, o = 64, side = 28;
  return {.name = "conv2d 3 × 3 of 64 × 32 × 28 × 28",
          .flops = 3 * 2.0 * n * side * side * o * c * 9,
          .setup = [] {
            const Rng rng(0);
            return Step([x = rng.split("x").normal({n, c, side, side}).set_trainable(),
                         weight = rng.split("weight").normal({o, c, 3, 3}).set_trainable(),
                         dy = rng.split("dy").normal({n, o, side, side})] {
              Tape tape;
              tape.backward(conv2d(x, weight, {}, {.padding = 1}), dy);
              for (const Tensor& t : {x, weight}) t.clear_grad();
            });
          }};
}

// Eight times Linear(512, 512) and ReLU; the first layer's input needs no gradient.
Row row_of_layers() {
  constexpr int64_t depth = 8, batch = 32, width = 512;
  struct Net {
    Sequential net;
    std::vector<Tensor> trained;
    Tensor x = Rng(0).split("x").normal({batch, width}), dy = Rng(0).split("dy").normal({batch, width});
    Net() {
      for (int64_t i = 0; i < depth; ++i) {
        net.add(std::make_unique<Linear>(init::he_normal({width, width}, Rng(0).split(i)), zeros({width})));
        net.add(std::make_unique<ReLU>());
      }
      trained = parameters(net);
    }
  };
  return {.name = "8 layers of 512, batch 32",
          .flops = (3.0 * depth - 1) * 2 * batch * width * width,
          .setup = [] {
            return Step([one = std::make_shared<Net>()] {
              {
                Tape tape;
                tape.backward(one->net(one->x), one->dy);
              }
              clear_gradients(one->trained);
            });
          }};
}

// A training step of nanoGPT's model for a CPU: each weight of a matrix is multiplied and added for each token, forward
// and twice backward, and so are the channels of the pairs that causal attention sees, for logits and values.
Row row_of_model() {
  constexpr int64_t batch = 12, time = 64, channels = 128, layers = 4, vocabulary = 65;
  struct Training {
    LanguageModel model{{.vocab_size = vocabulary,
                         .block_size = time,
                         .n_layer = layers,
                         .n_head = 4,
                         .n_embd = channels,
                         .positions = Positions::learned,
                         .norm = "layernorm",
                         .norm_options = {.bias = false},
                         .ffn = "gelu"},
                        Rng(0).split("model")};
    Tensor x = Rng(0).split("x").integers({batch, time}, vocabulary),
           y = Rng(0).split("y").integers({batch, time}, vocabulary);
    AdamW optimizer{parameters(model), {.lr = 1e-4}};
  };
  constexpr double weights = layers * 12.0 * channels * channels + channels * vocabulary;
  constexpr double pairs = time * (time + 1) / 2.0;
  return {.name = "step of a language model, 4 × 128",
          .flops = 6 * batch * (time * weights + layers * 2 * pairs * channels),
          .setup = [] {
            return Step([training = std::make_shared<Training>()] {
              {
                Tape tape;
                tape.backward(cross_entropy(training->model(training->x), training->y));
              }
              training->optimizer.step();
            });
          }};
}

std::vector<Row> all_rows() {
  return {row_of_op("RMSNorm", 8192, 768,
                    [weight = ones({768}).set_trainable()](const Tensor& x) {
                      return rms_norm(x, {768}, weight, 1e-5);
                    }),
          row_of_op("softmax", 4096, 1024, [](const Tensor& x) { return softmax(x); }),
          row_of_op("GELU (tanh)", 4096, 1024, [](const Tensor& x) { return gelu_tanh(x); }),
          row_of_convolution(),
          row_of_layers(),
          row_of_model()};
}

double seconds_of(const Step& step) {
  const Clock::time_point start = Clock::now();
  step();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Timed {
  double seconds = 0;          // the median of a step
  double rate = 0, limit = 0;  // bytes or flops a second, medians
};

// Turns of the step and of its limit until the time is over; three at least.
Timed time_row(const Row& row, double seconds) {
  const Step step = row.setup();
  for (int i = 0; i < 3; ++i) step();  // blocks of memory are there afterwards
  LimitProducts products;
  std::vector<double> times, limits;
  const Clock::time_point end =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  while (times.size() < 3 || Clock::now() < end) {
    times.push_back(seconds_of(step));
    limits.push_back(row.flops > 0 ? products.flops() / seconds_of(products) : triad_rate(row.footprint));
  }
  const double median = spread_of(times).median;
  return {
      .seconds = median, .rate = std::max(row.bytes, row.flops) / median, .limit = spread_of(limits).median};
}

// What the kernels of this build use.
std::string features() {
  std::vector<std::string> names;
#ifdef __AVX512F__
  names.push_back("AVX-512");
#endif
#ifdef __AVX2__
  names.push_back("AVX2");
#endif
#ifdef __FMA__
  names.push_back("FMA");
#endif
#ifdef __ARM_NEON
  names.push_back("NEON");
#endif
  if (names.empty()) names.push_back("no vector instructions beyond the architecture's own");
  return fmt::format("{}; {} f32 in a register", fmt::join(names, ", "), kernels::width<float>);
}

struct BenchLine {
  double seconds = 60;
  bool json = false;
};

Json json_of(const Row& row, const Timed& timed) {
  const bool multiplies = row.flops > 0;
  return {{"step", row.name},
          {"seconds", timed.seconds},
          {multiplies ? "flops_per_second" : "bytes_per_second", timed.rate},
          {"limit", timed.limit},
          {"share", timed.rate / timed.limit}};
}

void bench_all(const BenchLine& line) {
  const MachineLimits limits = measure_limits();
  const Json environment = current_environment();
  Json json = {{"environment", environment}, {"features", features()},
               {"threads", limits.threads},  {"products_flops_per_second", limits.product},
               {"triads", Json::array()},    {"rows", Json::array()}};
  std::vector<std::string> memory;
  for (const MachineLimits::Triad& triad : limits.triads) {
    json["triads"].push_back({{"bytes", triad.bytes}, {"bytes_per_second", triad.rate}});
    memory.push_back(fmt::format("{:.0f} ({:.3g} MiB)", triad.rate / 1e9, triad.bytes / (1 << 20)));
  }
  const std::vector<Row> rows = all_rows();
  if (!line.json)
    write_out(fmt::format(
        "{}, {} thread{}; {}\n"
        "products of 512 × 512: {:.0f} GFLOP/s; triads, GB/s: {}\n"
        "six steps, {:.2g} s each\n\n",
        environment.value("cpu", "unknown CPU"), limits.threads, limits.threads == 1 ? "" : "s", features(),
        limits.product / 1e9, fmt::join(memory, ", "), line.seconds / static_cast<double>(rows.size())));
  Table table({"forward and backward", "ms", "reached", "limit", "share"}, "lrrrr");
  for (const Row& row : rows) {
    const Timed timed = time_row(row, line.seconds / static_cast<double>(rows.size()));
    json["rows"].push_back(json_of(row, timed));
    const char* unit = row.flops > 0 ? "GFLOP/s" : "GB/s";
    table.row({row.name, number_text(1e3 * timed.seconds), fmt::format("{:.1f} {}", timed.rate / 1e9, unit),
               fmt::format("{:.1f} {}", timed.limit / 1e9, unit),
               fmt::format("{:.0f} %", 100 * timed.rate / timed.limit)});
  }
  if (line.json)
    write_out(json_text(json));
  else
    write_out(
        table.text() +
        "\nA share may pass 100 %: a triad's store fetches what it overwrites, and a step that updates in place does not.\n"
        "Medians, with what else runs here; tests/bench compares with PyTorch.\n");
}

}  // namespace

int bench(const Words& words) {
  BenchLine line;
  Tool tool("isobar bench", "Measures the limits of this machine, and compares six training steps with them.",
            "isobar bench --threads 1");
  tool.option("--seconds", line.seconds, "time for all six steps together, in seconds", between(0.01, 3600));
  tool.option("--json", line.json, "print the numbers as JSON");
  return tool.run(words, [&] { bench_all(line); });
}

}  // namespace isobar::verbs
