// A training step asks the system for memory twice at most: from the third step on all blocks are old ones.
#include <doctest/doctest.h>

#include "../../autograd/autograd.h"
#include "../../core/address_sanitizer.h"
#include "../../core/parallel.h"
#include "../../nn/lm/lm.h"
#include "../../nn/nn.h"
#include "../../optim/optim.h"

namespace isobar::steady_step_test {

// Blocks asked from the system in steps 3 … 12; none where AddressSanitizer watches, under which no block is
// kept.
uint64_t blocks_after_warm_up(const std::function<void(int64_t)>& step) {
  memory::trim();
  for (int64_t i = 0; i < 2; ++i) step(i);
  const uint64_t before = memory::stats().system_blocks;
  for (int64_t i = 2; i < 12; ++i) step(i);
  return watched() ? 0 : memory::stats().system_blocks - before;
}

TEST_CASE("a multilayer perceptron's step needs no new storage from the third on") {
  for (const int count : {1, 3}) {
    const WithThreads guard(count);
    Sequential net;
    for (int i = 0; i < 4; ++i) {
      net.add(std::make_unique<Linear>(65, 65, Rng(1).split(i)));
      net.add(std::make_unique<LayerNorm>(65));
      net.add(std::make_unique<ReLU>());
    }
    AdamW optimizer(parameters(net), {.lr = 1e-3});
    const Tensor x = Rng(2).normal({33, 65}), target = Rng(3).integers({33}, 65);
    CHECK(blocks_after_warm_up([&](int64_t) {
            {
              Tape tape;
              tape.backward(cross_entropy(net(x), target));
            }
            clip_grad_norm(parameters(net), 1);
            optimizer.step();
          }) == 0);
  }
}

TEST_CASE("a language model's step needs no new storage from the third on, with other tokens each time") {
  struct Variant {
    const char* norm;
    bool checkpointing;
    int64_t vocab_size;
  };
  for (const int count : {1, 3}) {
    const WithThreads guard(count);
    for (const Variant& variant :
         {Variant{"rmsnorm", false, 17}, Variant{"layernorm", false, 17}, Variant{"dyt", false, 17},
          Variant{"rmsnorm", true, 17}, Variant{"rmsnorm", true, LanguageModel::large_vocabulary}}) {
      INFO("norm ", variant.norm, ", checkpointing ", variant.checkpointing);
      LanguageModel model({.vocab_size = variant.vocab_size,
                           .block_size = 24,
                           .n_layer = 2,
                           .n_head = 4,
                           .n_kv_head = 2,
                           .n_embd = 32,
                           .norm = variant.norm,
                           .dropout = 0.1,
                           .activation_checkpointing = variant.checkpointing},
                          Rng(1));
      AdamW optimizer(parameters(model), {.lr = 1e-3});
      const uint64_t blocks = blocks_after_warm_up([&](int64_t i) {
        const Tensor tokens = Rng(2).split(i).integers({3, 24}, 17);
        {
          Tape tape({.rng = Rng(4).split(i)});
          tape.backward(model.loss(tokens, tokens));
        }
        optimizer.step();
      });
      // On a busy machine a thread may come to attention or a product for the first time in any step, and
      // takes what it needs there: a block in attention's forward, one in its backward, and for products
      // panels and strips, of two sizes.
      CHECK(blocks <= 6 * static_cast<uint64_t>(threads() - 1));
    }
  }
}

}  // namespace isobar::steady_step_test
