// Trains a small language model by the definition, on the text of a file: two blocks, AdamW, dropout, clipping.
//
//   c++ -std=c++20 -O2 -ffp-contract=off train.cpp -o train && ./train TEXT [STEPS]
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>

#include "layers.h"

using spec::Int;

int main(int count, char** words) {
  if (count < 2) {
    std::fprintf(stderr, "train: wanted a text file, and perhaps a number of steps\n");
    return 2;
  }
  std::ifstream file(words[1], std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const Int steps = count > 2 ? std::atoll(words[2]) : 200, batch = 8, time = 32;
  if (static_cast<Int>(text.size()) <= time + 1) {
    std::fprintf(stderr, "train: %s has %zu bytes, wanted more than %lld\n", words[1], text.size(),
                 static_cast<long long>(time + 1));
    return 1;
  }

  // A token is a byte's place among the bytes that occur.
  const std::set<char> alphabet(text.begin(), text.end());
  std::vector<Int> tokens;
  for (char c : text) tokens.push_back(std::distance(alphabet.begin(), alphabet.find(c)));

  const spec::Rng rng{1};
  spec::LanguageModel<float> model(
      {static_cast<Int>(alphabet.size()), time, /*layers=*/2, /*heads=*/4, /*width=*/32, /*dropout=*/0.1},
      rng.split("model"));
  spec::AdamW<float> optimizer{.lr = 3e-3};
  for (Int step = 0; step < steps; ++step) {
    // A batch of windows, each from a random place; the targets are one token further on.
    std::vector<Int> inputs, targets;
    for (Int b = 0; b < batch; ++b) {
      const double at = rng.split("places").uniform_at(step * batch + b);
      const auto begin = tokens.begin() + static_cast<Int>(at * static_cast<double>(tokens.size() - time));
      inputs.insert(inputs.end(), begin, begin + time);
      targets.insert(targets.end(), begin + 1, begin + 1 + time);
    }
    spec::Masks masks{rng.split("dropout").split(static_cast<std::uint64_t>(step))};
    const spec::Tensor<float> loss = model.loss(inputs, targets, batch, &masks);
    spec::backward(loss);
    optimizer.step(model.parameters, spec::clip_factor(spec::grad_norm(model.parameters), 1));
    if (step % 10 == 0 || step == steps - 1)
      std::printf("step %4lld   loss %.9g\n", static_cast<long long>(step),
                  static_cast<double>(loss.value().x[0]));
  }
}
