// Net: a deep net of equal layers, in any of the study's topologies. N is the norm (identity for "none"), φ
// the activation, f(x) = W2 φ(W1 x + b1) + b2:
//
//   plain      φ(N(W1 x + b1)), or N(φ(W1 x + b1)) for order relu_norm
//   residual   x + f(x)
//   pre        x + f(N(x))
//   post       N(x + f(x))
//   skipinit   x + a f(x), a = 1/√depth                 nn/residual.h
//   rezero     x + a f(x), a = 0                        nn/residual.h
//   fixup      x + s f(x + c1) + c3, c2 before relu     nn/residual.h
#pragma once

#include <set>

#include "../../../nn/nn.h"
#include "../../run/stats.h"
#include "theory.h"

namespace isobar::decay {

// One layer, made of the library's modules, x (B, C) → (B, C), and the parts of it that the study measures.
struct Layer {
  std::unique_ptr<Module> whole = nullptr;
  Linear* linear1 = nullptr;
  Module* norm = nullptr;  // null without one
  Module* relu = nullptr;  // φ
};

Layer make_layer(const Config& config, const Rng& rng);

// `depth` layers, named "1", "2", … Parts draw from streams of their names: nets share them.
struct Net : Module {
  std::vector<Layer> layers;

  Net(const Config& config, const Rng& rng);
  Tensor forward(const Tensor& x) override;
  void fields(Fields& f) override;
};

// --- What the study measures: for every layer std and mean of the signal, and norms of gradients.

// Of one layer in one run. Statistics are over batch × width, summed in double; stds have n − 1. Where a signal
// overflowed, stds and norms are infinite.
struct LayerSignal {
  double linear_std, norm_std, relu_std;  // after W1, the norm (NaN without one), φ
  double output_std;                      // of the layer, or the whole block
  double linear_mean, output_mean;
  double linear_along_one, output_along_one;  // root mean square over the rows of cos(row, (1, …, 1))
  double across_batch_std;      // mean over the features of the std over the rows: what of x is left
  double weight_gradient_norm;  // Frobenius, of W1
  double output_gradient_norm;  // Frobenius, of the layer's output

  template <class Visitor>
  void values(Visitor& f);
};

// All of them, with the names they bear in files: "std_linear" and "across_batch_std".
struct Quantity {
  const char *group, *part;
  double LayerSignal::*value;

  std::string name() const { return *part ? fmt::format("{}_{}", group, part) : group; }
};
inline constexpr std::array<Quantity, 11> quantities = {{
    {"std", "linear", &LayerSignal::linear_std},
    {"std", "norm", &LayerSignal::norm_std},
    {"std", "relu", &LayerSignal::relu_std},
    {"std", "output", &LayerSignal::output_std},
    {"mean", "linear", &LayerSignal::linear_mean},
    {"mean", "output", &LayerSignal::output_mean},
    {"along_one", "linear", &LayerSignal::linear_along_one},
    {"along_one", "output", &LayerSignal::output_along_one},
    {"across_batch_std", "", &LayerSignal::across_batch_std},
    {"grad_norm", "weight", &LayerSignal::weight_gradient_norm},
    {"grad_norm", "output", &LayerSignal::output_gradient_norm},
}};
template <class Visitor>
void LayerSignal::values(Visitor& f) {
  for (const Quantity& quantity : quantities) f(quantity.name(), this->*quantity.value);
}

// Of one run. The input depends on seed, batch and width alone.
struct Signals {
  double input_std = 0;
  std::vector<LayerSignal> layers = {};  // from the input to the output

  template <class Visitor>
  void values(Visitor& f) {
    f("input_std", input_std), f("layers", layers);
  }
};

// The loss of the net's output y: its sum, its mean, or, as "random", its sum weighted with normal numbers.
Tensor loss_of(const std::string& name, const Tensor& y, const Rng& rng);

// Watches a net that goes forward and back once. The net must outlive it.
class SignalProbe : public Probe {
 public:
  explicit SignalProbe(const Net& net);
  void on_output(const Module& module, const Tensor& y) override;
  std::vector<LayerSignal> layers() const;

 private:
  const Net& net_;
  std::set<const Module*> layers_;
  std::vector<double> across_batch_std_;
  std::map<const Module*, double> along_one_;  // of every layer and every W1
};

// Over several runs of one configuration: one quantity of one layer (0 the first), run by run.
std::vector<double> layer_values(const std::vector<Signals>& runs, size_t layer,
                                 double LayerSignal::*quantity);
Spread layer_spread(const std::vector<Signals>& runs, size_t layer, double LayerSignal::*quantity);

// --- Result: all runs of one configuration, and what theory predicts for it.

struct Result {
  Config config;
  std::vector<Signals> runs;
  std::vector<LayerTheory> theory;
};

}  // namespace isobar::decay
