// A whole training against literals. (Against its definition: spec/same_as_spec.cpp.)
#include <doctest/doctest.h>

#include "../../data/synthetic.h"
#include "../../data/text.h"
#include "../../nn/lm/lm.h"
#include "../../nn/nn.h"
#include "../../optim/optim.h"

namespace isobar::golden_test {

TEST_CASE("a small language model loses what it lost when this line was written") {
  // Our own figures: they catch a change of initial weights, of batches, of dropout's masks or of the loss.
  // C libraries differ between machines, hence the relative 1e-4.
  const std::vector<double> golden{2.78226, 2.7701, 2.7628, 2.77389, 2.75587, 2.72678, 2.7705, 2.72708};
  const Rng rng(3);
  const std::vector<int32_t> text = MarkovSource().generate(10'000, rng.split("text"));
  const TokenDataset data(text, 16, "text");
  LanguageModel model({.vocab_size = MarkovSource::symbols,
                       .block_size = 16,
                       .n_layer = 2,
                       .n_head = 2,
                       .n_kv_head = 1,
                       .n_embd = 16,
                       .qk_norm = true,
                       .dropout = 0.1},
                      rng.split("model"));
  AdamW optimizer(parameters(model), {.lr = 1e-2});
  for (size_t step = 0; step < golden.size(); ++step) {
    const auto [x, y] = data.random_batch(8, rng.split("batch").split(step));
    Tape tape({.rng = rng.split("dropout").split(step)});
    const Tensor loss = cross_entropy(model(x), y);
    tape.backward(loss);
    optimizer.step();
    CHECK_MESSAGE(std::abs(loss.item() - golden[step]) <= 1e-4 * golden[step], "step ", step, ": ",
                  loss.item(), " instead of ", golden[step]);
  }
}

}  // namespace isobar::golden_test
