// soak: does memory stay where it is in a long training?
//
//   soak                                100,000 steps of a small net, 5,000 of a language model: some minutes
//   soak --net 2000 --language_model 0  fewer of one, none of the other
//   soak --leak 500                     keeps a tensor at every 500th step, as a program with a mistake would
//
// After step 1,000 the bytes of live tensors must not change, and the resident memory by no more than 1 %.
// Now and then a training does what trainings do beside their steps: it watches its modules, evaluates, saves
// and loads its weights. Exit code 0 if memory stayed, 1 if not, 2 for a wrong command line.
#include <unistd.h>

#include <chrono>

#include "../../autograd/autograd.h"
#include "../../data/loader.h"
#include "../../data/safetensors.h"
#include "../../data/synthetic.h"
#include "../../data/text.h"
#include "../../experiments/run/tool.h"
#include "../../nn/lm/lm.h"
#include "../../nn/nn.h"
#include "../../optim/optim.h"
#include "../temporary_folder.h"

using namespace isobar;

namespace {

struct SoakOptions {
  int64_t net = 100'000, language_model = 5'000, warm_up = 1'000, leak = 0;
  double growth = 0.01;
};

// Memory of this process that the kernel keeps resident, in bytes.
int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  int64_t all = 0, resident = 0;
  check(bool(file >> all >> resident), "cannot read /proc/self/statm");
  return resident * sysconf(_SC_PAGESIZE);
}

// The bytes of live tensors and the resident memory, asked after each step, and how far they moved after the
// warm-up.
struct MemoryWatch {
  struct Range {
    int64_t first = 0, least = 0, most = 0;
    bool seen = false;
    void add(int64_t value) {
      if (!std::exchange(seen, true)) first = least = most = value;
      least = std::min(least, value), most = std::max(most, value);
    }
  };
  const SoakOptions& line;
  Range tensors, resident, system_blocks;

  void after_step(int64_t step) {
    if (step < line.warm_up) return;
    const memory::Stats now = memory::stats();
    system_blocks.add(static_cast<int64_t>(now.system_blocks));
    tensors.add(static_cast<int64_t>(now.bytes_in_use));
    if ((step - line.warm_up) % 100 == 0) resident.add(resident_bytes());
  }
  // The largest distance of the resident memory from its first value, as a share of that.
  double moved() const {
    return static_cast<double>(std::max(resident.most - resident.first, resident.first - resident.least)) /
           static_cast<double>(resident.first);
  }
  bool held() const { return tensors.least == tensors.most && moved() <= line.growth; }
  std::string text() const {
    check(tensors.seen, "wanted at least {} steps, the warm-up", line.warm_up);
    const auto kib = [](int64_t bytes) { return static_cast<double>(bytes) / 1024; };
    return fmt::format(
        "tensors {:.2f} KiB at step {}, {:.2f} to {:.2f} after it; resident {:.2f} MiB, {:.2f} to {:.2f} "
        "({:.2f} % at most); {} blocks asked of the system",
        kib(tensors.first), line.warm_up, kib(tensors.least), kib(tensors.most), kib(resident.first) / 1024,
        kib(resident.least) / 1024, kib(resident.most) / 1024, 100 * moved(),
        system_blocks.most - system_blocks.first);
  }
};

// A model, its windows of a text, and its loss.
struct Training {
  std::string name;
  Module& model;
  const TokenDataset& data;
  int64_t batch_size, steps;
  std::function<Tensor(const Batch&)> loss;
};

// What trainings do now and then beside their steps.
void look(const Training& training, const Batch& batch, const std::string& file) {
  Probe probe;
  {
    const Watch watch(training.model, probe);
    Tape tape({.rng = Rng(7)});
    tape.backward(training.loss(batch));
  }
  check(!probe.signals().empty(), "the probe saw nothing");
  clear_gradients(parameters(training.model));
  eval(training.model);
  training.loss(batch).item();
  train(training.model);
  save_safetensors(file, named_state(training.model));
  load_state(training.model, load_safetensors(file));
}

// Trains, prints what memory did, and returns whether it stayed.
bool stays(const Training& training, const SoakOptions& line) {
  const TemporaryFolder folder;
  const auto start = std::chrono::steady_clock::now();
  AdamW optimizer(parameters(training.model), {.lr = 1e-3});
  const Loader loader(training.data, {.batch_size = training.batch_size, .drop_last = true}, Rng(3));
  MemoryWatch watch{line, {}, {}, {}};
  std::vector<Tensor> leaked;
  for (int64_t step = 1; step <= training.steps; ++step) {
    const Batch batch = loader.epoch(step / loader.size()).batch(step % loader.size());
    {
      Tape tape({.rng = Rng(4).split(static_cast<uint64_t>(step))});
      tape.backward(training.loss(batch));
    }
    clip_grad_norm(parameters(training.model), 1);
    optimizer.step();
    if (step % 200 == 0) look(training, batch, folder / "weights.safetensors");
    if (line.leak > 0 && step % line.leak == 0) leaked.push_back(zeros({2}));
    watch.after_step(step);
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  fmt::print("{}: {} steps in {:.0f} s; {}: {}\n", training.name, training.steps, seconds.count(),
             watch.text(), watch.held() ? "held" : "NOT HELD");
  std::fflush(stdout);
  return watch.held();
}

bool all_stay(const SoakOptions& line) {
  const std::vector<int32_t> text = MarkovSource().generate(20'000, Rng(1));
  const Rng rng(2);
  const TokenDataset words(text, 8, "text"), windows(text, 32, "text");
  Sequential net(Embedding(16, 32, rng.split("0")), LayerNorm(32), Linear(32, 64, rng.split("1")), ReLU(),
                 Dropout(0.1), Linear(64, 16, rng.split("2")));
  LanguageModel model({.vocab_size = 16,
                       .block_size = 32,
                       .n_layer = 2,
                       .n_head = 4,
                       .n_kv_head = 2,
                       .n_embd = 64,
                       .dropout = 0.1},
                      rng);
  bool stayed = true;
  for (const Training& training : std::vector<Training>{
           {"net", net, words, 16, line.net, [&](const Batch& b) { return cross_entropy(net(b.x), b.y); }},
           {"language model", model, windows, 8, line.language_model,
            [&](const Batch& b) { return model.loss(b.x, b.y); }}})
    if (training.steps > 0) stayed = stays(training, line) && stayed;
  return stayed;
}

}  // namespace

int main(int argc, char** argv) {
  SoakOptions line;
  Tool tool("soak", "Does memory stay where it is in a long training?", "soak --net 2000 --language_model 0");
  tool.option("--net", line.net, "steps of the small net; 0: none", at_least(0));
  tool.option("--language_model", line.language_model, "steps of the language model; 0: none", at_least(0));
  tool.option("--warm_up", line.warm_up, "the step after which memory must stay", at_least(1));
  tool.option("--growth", line.growth, "by which share the resident memory may change then", at_least(0));
  tool.option("--leak", line.leak, "keep a tensor at every N-th step; 0: none", at_least(0));
  return tool.run(argc, argv, [&] { return all_stay(line) ? 0 : 1; });
}
