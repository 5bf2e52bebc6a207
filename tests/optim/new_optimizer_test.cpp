// A new optimizer, as optim/optimizer.h says that one is added: this is all of it.
#include "optimizer_values.h"

namespace isobar::new_optimizer_test {

// Lion (Chen et al. 2023, algorithm 2): w ← w − lr · (sign(β₁ m + (1 − β₁) dw) + weight_decay · w), then
// m ← β₂ m + (1 − β₂) dw.
struct LionOptions {
  double lr = 1e-4, beta1 = 0.9, beta2 = 0.99, weight_decay = 0;
};

class Lion final : public Optimizer {
 public:
  explicit Lion(const std::vector<Tensor>& parameters, const LionOptions& o = {})
      : Optimizer({.op = "lion", .writer = "Lion's step", .states = {"momentum"}},
                  {{.parameters = parameters}}, o.lr, o.weight_decay),
        options_(o) {}

 private:
  void update(const Update& u, int64_t begin, int64_t end) const override {
    u.part(begin, end, [&]<class T>(const Slice<T>& run) {
      const T b1 = static_cast<T>(options_.beta1), b2 = static_cast<T>(options_.beta2);
      const T lr = static_cast<T>(u.lr), decay = static_cast<T>(u.weight_decay);
      for (int64_t i = 0; i < run.n; ++i) {
        const T dw = static_cast<T>(u.factor) * run.dw[i], c = b1 * run.state[0][i] + (1 - b1) * dw;
        run.w[i] -= lr * (static_cast<T>((c > 0) - (c < 0)) + decay * run.w[i]);
        run.state[0][i] = b2 * run.state[0][i] + (1 - b2) * dw;
      }
    });
  }

  const LionOptions options_;
};

TEST_CASE("an optimizer of twenty lines takes its own steps, in both dtypes") {
  for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
    const Tensor w = parameter({1, -2, 0}, dtype), idle = parameter({5}, dtype);
    Lion lion({w, idle}, {.lr = 0.25, .beta1 = 0.5, .beta2 = 0.5, .weight_decay = 0.5});
    w.set_grad(row({4, -8, 0}, dtype));
    CHECK(lion.step() == 1);
    CHECK(w.to_vector<double>() == Doubles{0.625, -1.5, 0});  // 1 − (1 + 0.5)/4, −2 − (−1 − 1)/4, 0
    w.set_grad(row({-1, 0, 2}, dtype));
    CHECK(lion.step(0.5) == 1);  // m = 2, −4, 0 outweighs −0.5 and 0
    CHECK(w.to_vector<double>() == Doubles{0.296875, -1.0625, -0.25});
    CHECK(idle.item() == 5);
    CHECK(state_of(lion).size() == 3);
    CHECK(state_of(lion).contains("0.momentum"));
  }
}

}  // namespace isobar::new_optimizer_test
