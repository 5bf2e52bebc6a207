// NGPT: its vectors and weights lie on the unit sphere, before and after a step, and it learns. Its block
// against PyTorch: torch_layers_test.cpp.
#include "../../nn/lm/ngpt.h"

#include <doctest/doctest.h>

#include "../../autograd/tape.h"
#include "../../nn/model.h"
#include "../../optim/optim.h"

namespace isobar::ngpt_test {

using doctest::Approx;

const NGPTConfig config{
    .vocab_size = 7, .block_size = 6, .n_layer = 3, .n_head = 2, .n_embd = 8, .hidden = 12};

Tensor symbols() { return tensor<int32_t>({2, 5}, {0, 1, 2, 3, 4, 6, 5, 4, 3, 2}); }

std::vector<double> lengths(const Tensor& x, int axis) {
  return sqrt(sum(square(x.detach()), {axis})).to_vector<double>();
}

void check_unit(const Tensor& x, int axis) {
  for (const double length : lengths(x, axis)) CHECK(length == Approx(1).epsilon(1e-5));
}

void check_weights(NGPT& model) {
  for (const auto& entry : named_parameters(model)) {
    if (entry.tensor.ndim() != 2) continue;
    CAPTURE(entry.name);
    const bool writes =
        entry.name.find("o_proj") != std::string::npos || entry.name.find("down_proj") != std::string::npos;
    check_unit(entry.tensor, writes ? 0 : 1);
  }
}

TEST_CASE("nGPT keeps every state and every weight at length 1, through training") {
  NGPT model(config, Rng(1));
  AdamW optimizer(parameters(model), {.lr = 1e-2, .weight_decay = 0});
  const Tensor targets = tensor<int32_t>({2, 5}, {1, 2, 3, 4, 5, 5, 4, 3, 2, 1});
  double first = 0, last = 0;
  for (int step = 0; step < 60; ++step) {
    check_weights(model);
    Tape tape;
    Tensor h = model.embed_tokens(symbols());
    for (NGPTBlock& block : model.blocks) {
      h = block(h);
      check_unit(h, 2);
    }
    const Tensor loss = cross_entropy(model(symbols()), targets);
    (step == 0 ? first : last) = loss.item();
    tape.backward(loss);
    optimizer.step();
    normalize_weights(model);
  }
  CHECK(first == Approx(std::log(7.0)).epsilon(0.1));  // logits between −1 and 1, of variance 1/8
  CHECK(last < 0.5 * first);
}

TEST_CASE("nGPT sees no later symbol, and its logits stay below |s_z|") {
  NGPT model(config, Rng(1));
  const Tensor before = model(symbols());
  const Tensor after = model(tensor<int32_t>({2, 5}, {0, 1, 2, 3, 5, 6, 5, 4, 3, 0}));
  CHECK(slice(before, 1, 0, 4).to_vector<float>() == slice(after, 1, 0, 4).to_vector<float>());
  CHECK(slice(before, 1, 4, 5).to_vector<float>() != slice(after, 1, 4, 5).to_vector<float>());
  for (const double logit : before.to_vector<double>()) CHECK(std::abs(logit) <= 1 + 1e-6);
}

TEST_CASE("nGPT has one head where one is asked for, and SwiGLU's usual width unless another is") {
  NGPT model({.vocab_size = 7, .block_size = 6, .n_layer = 1, .n_head = 1, .n_embd = 24}, Rng(1));
  CHECK(model.blocks[0].gate_proj.weight.shape() == Shape{64, 24});  // 8/3 · 24
  CHECK(model(symbols()).shape() == Shape{2, 5, 7});
}

TEST_CASE("nGPT's learned scales start where section 2.5 of the paper puts them") {
  NGPT model(config, Rng(1));
  NGPTBlock& block = model.blocks[0];
  const auto check_start = [](LearnedScale& scale, double stored, double effective) {
    for (const double value : scale.weight.to_vector<double>()) CHECK(value == Approx(stored));
    const Tensor once = scale(ones(scale.weight.shape()));
    for (const double value : once.to_vector<double>()) CHECK(value == Approx(effective));
  };
  const double root = 1 / std::sqrt(8.0);  // 1/√d
  check_start(block.qk_scale, root, 1);
  check_start(block.gate_scale, 1, 1);
  check_start(block.up_scale, 1, 1);
  check_start(block.attention_rate, root, 0.05);
  check_start(block.mlp_rate, root, 0.05);
  check_start(model.logit_scale, root, 1);
}

}  // namespace isobar::ngpt_test
