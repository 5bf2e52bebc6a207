// The eight layers of decay_study by the definition: Linear, a norm or none, ReLU; 512 columns, 32 rows. It
// prints the std of each layer's output and the norm of its weight's gradient: the numbers of
// `decay_study --loss random --seeds 1 --seed SEED`, std_output and grad_norm_weight.
//
//   c++ -std=c++20 -O2 -ffp-contract=off study.cpp -o study && ./study [rms_norm] [SEED]
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "layers.h"

namespace {

// Σ (x − from)² in doubles.
double squares(const spec::Array<float>& x, double from) {
  return spec::long_sum(x.size(), [&](spec::Int i) { return spec::squared(x.x[i] - from); });
}
double std_of(const spec::Array<float>& x) {
  const auto n = static_cast<double>(x.size());
  const double mean = spec::long_sum(x.size(), [&](spec::Int i) { return x.x[i]; }) / n;
  return std::sqrt(squares(x, mean) / (n - 1));
}

}  // namespace

int main(int count, char** words) {
  const bool normed = count > 1 && std::string_view(words[1]) == "rms_norm";
  const spec::Rng rng{count > (normed ? 2 : 1) ? std::strtoull(words[count - 1], nullptr, 10) : 1};
  const spec::EightLayers<float> net(rng.split("net"));
  const auto outputs = net(spec::Tensor<float>(rng.split("x").normal<float>({32, 512}, 0, 1)), normed);
  const spec::Array<float> dy = rng.split("loss").normal<float>({32, 512}, 0, 1);
  spec::backward(sum(spec::Tensor<float>(dy) * outputs.back()));
  for (size_t i = 0; i < outputs.size(); ++i)
    std::printf("layer %zu   std %.17g   weight gradient %.17g\n", i + 1, std_of(outputs[i].value()),
                std::sqrt(squares(net.layers[i].weight.grad(), 0)));
}
