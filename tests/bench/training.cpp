// Training steps of a plain deep net, what it costs to watch one, and a whole program that trains one.
//
// The net is `depth` times Linear(512, 512) and ReLU with He's initial weights; B is the batch.
#include "../../autograd/autograd.h"
#include "../../core/parallel.h"
#include "../../experiments/run/process.h"
#include "../../nn/nn.h"
#include "../../optim/optim.h"
#include "../temporary_folder.h"
#include "cases.h"

namespace isobar::bench {

constexpr int64_t width = 512, classes = 10;

Sequential make_net(int64_t depth, const Rng& rng) {
  Sequential net;
  for (int64_t i = 0; i < depth; ++i) {
    net.add(std::make_unique<Linear>(init::he_normal({width, width}, rng.split(i)), zeros({width})));
    net.add(std::make_unique<ReLU>());
  }
  return net;
}

// A layer forward, and its gradients with respect to weight and input: three products of 2 · B · 512² flops.
// The first layer's input needs no gradient.
double net_flops(int64_t depth, int64_t batch) {
  return static_cast<double>((3 * depth - 1) * 2 * batch * width * width);
}

// Forward and backward of eight layers, batch 32, with or without the moments of every module's output, the
// norm of its gradient, and the norm of every parameter's gradient.
struct Study {
  Sequential net = make_net(8, Rng(0).split("net"));
  std::vector<Tensor> trained = parameters(net);
  Tensor x = Rng(0).split("x").normal({32, width});
  Tensor dy = Rng(0).split("dy").normal({32, width});
  Probe probe;
  std::vector<double> gradient_norms;

  void step() {
    {
      Tape tape;
      tape.backward(net(x), dy);
    }
    clear_gradients(trained);
  }

  void watched_step() {
    {
      const Watch watching(net, probe);
      Tape tape;
      tape.backward(net(x), dy);
    }
    gradient_norms.clear();
    for (const Tensor& parameter : trained) gradient_norms.push_back(grad_norm({parameter}));
    clear_gradients(trained);
  }
};

// A classifier: the net, Linear(512, 10), cross-entropy; forward, backward, AdamW.
struct ClassifierTraining {
  Sequential net;
  Tensor x, labels;
  AdamW optimizer;

  ClassifierTraining(int64_t depth, int64_t batch, const Rng& rng)
      : net(make_classifier(depth, rng)),
        x(rng.split("x").normal({batch, width})),
        labels(rng.split("labels").integers({batch}, classes)),
        optimizer(parameters(net), {.lr = 1e-4}) {}

  void step() {
    {
      Tape tape;
      tape.backward(cross_entropy(net(x), labels));
    }
    optimizer.step();
  }

  static Sequential make_classifier(int64_t depth, const Rng& rng) {
    Sequential net = make_net(depth, rng.split("net"));
    net.add(std::make_unique<Linear>(width, classes, rng.split("head")));
    return net;
  }
};

void add_mlp(Cases& cases, int64_t depth, int64_t batch) {
  const auto head_flops = static_cast<double>(3 * 2 * batch * width * classes);
  cases.push_back({.name = fmt::format("mlp_d{}_b{}_adamw", depth, batch),
                   .work = product_flops(net_flops(depth, batch) + head_flops),
                   .setup = [depth, batch] {
                     const auto training = std::make_shared<ClassifierTraining>(depth, batch, Rng(0));
                     return Step([training] { training->step(); });
                   }});
}

void add_training(Cases& cases) {
  const Work study_work = product_flops(net_flops(8, 32));
  cases.push_back({.name = "study8_fwdbwd", .work = study_work, .setup = [] {
                     return Step([study = std::make_shared<Study>()] { study->step(); });
                   }});
  cases.push_back({.name = "study8_stats_fwdbwd", .work = study_work, .setup = [] {
                     return Step([study = std::make_shared<Study>()] { study->watched_step(); });
                   }});
  add_mlp(cases, 8, 32);
  add_mlp(cases, 64, 32);
  add_mlp(cases, 8, 1024);
}

// The small study that a student runs first, from its start to its end.
void add_process(Cases& cases) {
  cases.push_back(
      {.name = "process_blog8", .work = {}, .setup = [] {
         const std::string program = std::filesystem::path(own_path()).replace_filename("decay_study");
         return Step([program, folder = std::make_shared<TemporaryFolder>()] {
           const Finished run =
               run_child(program, {"--preset", "blog8", "--seeds", "1", "--threads",
                                   std::to_string(threads()), "--force", "--out", *folder / "run"});
           check(run.code <= 1, "{}: ended with {}", program, run.code);  // 1: its own check failed
         });
       }});
}

}  // namespace isobar::bench
