// soak: does memory stay where it is in a long training?
//
//   soak                                100,000 steps of a small net, 5,000 of a language model: some minutes
//   soak --net 2000 --language_model 0  fewer of one, none of the other
//   soak --leak 500                     keeps a tensor at every 500th step, as a program with a mistake would
//
// After step 1,000 the bytes of live tensors must not change, and the resident memory by no more than 1 %.
// Now and then a training does what trainings do beside their steps: it watches its modules, evaluates, saves
// and loads its weights. Exit code 0 if memory stayed, 1 if not, 2 for a wrong command line.
#include <chrono>

#include "../../autograd/autograd.h"
#include "../../data/loader.h"
#include "../../data/safetensors.h"
#include "../../data/synthetic.h"
#include "../../data/text.h"
#include "../../experiments/harness/tool.h"
#include "../../nn/lm/lm.h"
#include "../../nn/nn.h"
#include "../../optim/optim.h"
#include "../temporary_folder.h"
#include "memory_watch.h"

using namespace isobar;
using namespace isobar::soak;

namespace {

struct CommandLine {
  int64_t net = 100'000, language_model = 5'000, warm_up = 1'000, leak = 0;
  double growth = 0.01;
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
bool stays(const Training& training, const CommandLine& line) {
  const TemporaryFolder folder;
  const auto start = std::chrono::steady_clock::now();
  AdamW optimizer(parameters(training.model), {.lr = 1e-3});
  const Loader loader(training.data, {.batch_size = training.batch_size, .drop_last = true}, Rng(3));
  MemoryWatch watch(line.warm_up, line.growth);
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

bool all_stay(const CommandLine& line) {
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
  CommandLine line;
  Tool tool("soak", "Does memory stay where it is in a long training?", "soak --net 2000 --language_model 0");
  tool.option("--net", line.net, "steps of the small net; 0: none", at_least(0));
  tool.option("--language_model", line.language_model, "steps of the language model; 0: none", at_least(0));
  tool.option("--warm_up", line.warm_up, "the step after which memory must stay", at_least(1));
  tool.option("--growth", line.growth, "by which share the resident memory may change then", at_least(0));
  tool.option("--leak", line.leak, "keep a tensor at every N-th step; 0: none", at_least(0));
  return tool.run(argc, argv, [&] { return all_stay(line) ? 0 : 1; });
}
