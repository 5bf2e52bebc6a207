// What the study measures: for every layer of a net, std and mean of the signal on its way up, and the norms
// of the gradients that come back.
#pragma once

#include <set>

#include "../harness/stats.h"
#include "net.h"
#include "theory.h"

namespace isobar::decay {

// Of one layer in one run. All statistics are taken over batch × width and summed in double; stds are sample
// stds (n − 1).
struct LayerSignal {
  double linear_std, norm_std,
      relu_std;       // right after W1, the norm, the ReLU; norm_std is NaN without a norm
  double output_std;  // of the layer, or the whole block
  double linear_mean, output_mean;
  double linear_along_one, output_along_one;  // root mean square over the rows of cos(row, (1, …, 1))
  double across_batch_std;      // mean over the features of the std over the rows: what of x is left
  double weight_gradient_norm;  // Frobenius, of W1
  double output_gradient_norm;  // Frobenius, of the layer's output
};

// All of them, with the names they bear in files.
struct Quantity {
  const char* name;
  double LayerSignal::*value;
};
inline constexpr std::array<Quantity, 11> quantities = {{
    {"std_linear", &LayerSignal::linear_std},
    {"std_norm", &LayerSignal::norm_std},
    {"std_relu", &LayerSignal::relu_std},
    {"std_output", &LayerSignal::output_std},
    {"mean_linear", &LayerSignal::linear_mean},
    {"mean_output", &LayerSignal::output_mean},
    {"along_one_linear", &LayerSignal::linear_along_one},
    {"along_one_output", &LayerSignal::output_along_one},
    {"across_batch_std", &LayerSignal::across_batch_std},
    {"grad_norm_weight", &LayerSignal::weight_gradient_norm},
    {"grad_norm_output", &LayerSignal::output_gradient_norm},
}};

// Of one run. The input depends on seed, batch and width alone.
struct Signals {
  double input_std;
  std::vector<LayerSignal> layers;  // from the input to the output
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
