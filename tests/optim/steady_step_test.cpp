// A training step asks the system for memory twice at most: from the third step on all blocks are old ones.
#include <doctest/doctest.h>

#include "../../autograd/autograd.h"
#include "../../core/address_sanitizer.h"
#include "../../core/parallel.h"
#include "../../nn/lm/lm.h"
#include "../../nn/nn.h"
#include "../../optim/optim.h"

namespace isobar::steady_step_test {

TEST_CASE("a language model's step needs no new storage from the third on, with other tokens each time") {
  struct Variant {
    const char* norm;
    int64_t vocab_size;
  };
  for (const int count : {1, 3}) {
    const WithThreads guard(count);
    for (const Variant& variant : {Variant{"rmsnorm", 17}, Variant{"layernorm", 17}, Variant{"dyt", 17},
                                   Variant{"rmsnorm", LanguageModel::large_vocabulary}}) {
      INFO("norm ", variant.norm, ", vocabulary ", variant.vocab_size);
      LanguageModel model({.vocab_size = variant.vocab_size,
                           .block_size = 24,
                           .n_layer = 2,
                           .n_head = 4,
                           .n_kv_head = 2,
                           .n_embd = 32,
                           .norm = variant.norm,
                           .dropout = 0.1},
                          Rng(1));
      AdamW optimizer(parameters(model), {.lr = 1e-3});
      memory::trim();
      uint64_t before = 0;
      for (int64_t i = 0; i < 12; ++i) {
        if (i == 2) before = memory::stats().system_blocks;
        const Tensor tokens = Rng(2).split(i).integers({3, 24}, 17);
        {
          Tape tape({.rng = Rng(4).split(i)});
          tape.backward(model.loss(tokens, tokens));
        }
        clip_grad_norm(parameters(model), 1);
        optimizer.step();
      }
      if (watched()) continue;  // AddressSanitizer keeps no blocks
      // On a busy machine a thread may come to attention or a product for the first time in any step, and
      // takes what it needs there: a block in attention's forward, one in its backward, and for products
      // panels and strips, of two sizes.
      CHECK(memory::stats().system_blocks - before <= 6 * static_cast<uint64_t>(threads() - 1));
    }
  }
}

}  // namespace isobar::steady_step_test
