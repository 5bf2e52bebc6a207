// What an op costs besides its arithmetic: ten thousand tiny additions on one tape.
#include "../../autograd/autograd.h"
#include "case.h"

namespace isobar::bench {

void add_tape(Cases& cases) {
  constexpr int64_t count = 10000;
  cases.push_back({.name = "chain_add_10000_16x16_fwdbwd", .work = ops(count), .setup = [] {
                     const Rng rng(0);
                     Tensor w = rng.split("w").normal({16, 16});
                     w.set_trainable();
                     const Tensor x = rng.split("x").normal({16, 16}), dy = ones({16, 16});
                     return Step([w, x, dy] {
                       Tape tape;
                       Tensor y = x;
                       for (int64_t i = 0; i < count; ++i) y = y + w;
                       tape.backward(y, dy);
                       w.clear_grad();
                     });
                   }});
}

}  // namespace isobar::bench
