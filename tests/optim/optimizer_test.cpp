// Optimizers. Literals come from PyTorch 1.13.1 through tests/fixtures/optimizer_literals.py; values are of
// order 1 and are met to 1e-14: the roundings of five steps done in another order. (SGD and AdamW bit for bit, in
// f32 too: spec/same_as_spec.cpp.)
#include "../thread_counts.h"
#include "optimizer_values.h"

namespace isobar::optimizer_test {

// dx[i] = x[i] / 2 − (i + 1) / 4 + t / 8, as the fixture has it.
void set_gradient(const Tensor& x, int t) {
  Doubles dx = x.to_vector<double>();
  for (size_t i = 0; i < dx.size(); ++i) dx[i] = dx[i] / 2 - static_cast<double>(i + 1) / 4 + t / 8.0;
  x.set_grad(row(dx, x.dtype()));
}

using Made = std::unique_ptr<Optimizer>;
using Make = std::function<Made(const Tensor& w, const Tensor& b)>;

struct Row {
  std::string name;
  Make make;
  Doubles w, b;  // after 5 steps
  std::function<double(int)> rate = nullptr;
};

template <class Kind, class Options>
Make plain(const Options& options) {
  return [=](const Tensor& w, const Tensor& b) -> Made {
    return std::make_unique<Kind>(std::vector<Tensor>{w, b}, options);
  };
}

// w has its own weight decay, b half the rate.
template <class Kind, class Options>
Make grouped(const Options& options) {
  return [=](const Tensor& w, const Tensor& b) -> Made {
    return std::make_unique<Kind>(std::vector<ParameterGroup>{{.parameters = {w}, .weight_decay = 0.2},
                                                              {.parameters = {b}, .lr_scale = 0.5}},
                                  options);
  };
}

Make sgd(const SGDOptions& options) { return plain<SGD>(options); }
Make adam(const AdamOptions& options) { return plain<Adam>(options); }
Make adam_w(const AdamWOptions& options) { return plain<AdamW>(options); }

// One row a line reads best: the formatter would spread each over four.
// clang-format off
const std::vector<Row> rows = {
    {"sgd with nesterov and weight decay",
     sgd({.lr = 0.1, .momentum = 0.9, .nesterov = true, .weight_decay = 0.3}),
     {0.052361685667327906, 0.24356822620838406, 0.636167680568064, 1.0287671349277436},
     {0.12937128799999997, -0.13770166399999986}},
    {"sgd in groups", grouped<SGD>(SGDOptions{.lr = 0.1, .momentum = 0.5, .weight_decay = 0.3}),
     {0.53157312705, -0.8625842156, 0.6124098329, 2.0874038814}, {0.216979, -0.5682119999999999}},
    {"adam with other betas and eps", adam({.lr = 0.1, .beta1 = 0.8, .beta2 = 0.95, .eps = 1e-3}),
     {0.49599820534444194, -1.5146553344709754, 0.8759064225432929, 2.4954949265579502},
     {0.25169518666754853, -0.46789985754096036}},
    {"adam with weight decay", adam({.lr = 0.1, .weight_decay = 0.3}),
     {0.4979647326545491, -1.5077125885773175, 0.7380597234524668, 2.498872412425527},
     {0.2093399268609553, -0.46080424316812346}},
    {"adamw with weight decay", adam_w({.lr = 0.1, .beta1 = 0.9, .beta2 = 0.99, .weight_decay = 0.3}),
     {0.3874138885154267, -1.2590475402971968, 0.8119664732488137, 2.103733195251725},
     {0.23846621464849146, -0.4085440184070722}},
    {"adamw in groups", grouped<AdamW>(AdamWOptions{.lr = 0.1, .weight_decay = 0}),
     {0.4227288411864828, -1.339566877909949, 0.8389832338291673, 2.2292601365361033},
     {0.261755449958336, -0.6059780743079656}},
    {"adamw with a rate that falls", adam_w({.lr = 0.1}),
     {0.7700026137882712, -1.7694629424558355, 0.7073400190272368, 2.7645304255843492},
     {0.3294675117418734, -0.5986463012012948}, [](int t) { return 0.1 / (t + 1); }},
};
// clang-format on

TEST_CASE("optimizers take the steps that PyTorch takes") {
  for (const Row& row : rows) {
    SUBCASE(row.name.c_str()) {
      Tensor w = parameter({1, -2, 0.5, 3}), b = parameter({0.25, -0.75});
      const Made optimizer = row.make(w, b);
      for (int t = 0; t < 5; ++t) {
        set_gradient(w, t);
        if (t != 1 && t != 3) set_gradient(b, t);
        if (row.rate) optimizer->set_lr(row.rate(t));
        optimizer->step();
      }
      check_values(w, row.w, 1e-14);
      check_values(b, row.b, 1e-14);
    }
  }
}

// Literals: torch.optim.RMSprop of PyTorch 1.13.0, float64.
TEST_CASE("RMSprop takes the steps that PyTorch takes") {
  const auto after_three = [](const RMSpropOptions& options) {
    Tensor w = parameter({-0.3, 0.5, 1.3});
    RMSprop optimizer({w}, options);
    for (double t = 1; t <= 3; ++t) {
      w.set_grad(row({-0.3 * t, 0.5 * t, 1.3 * t}));
      optimizer.step();
    }
    return w;
  };
  check_values(after_three({.lr = 0.1, .alpha = 0.9, .eps = 1e-6, .weight_decay = 0.01, .momentum = 0.5}),
               {0.93963852896309619, -0.73995333633917493, 0.059757672175083425}, 1e-14);
  // The difference v − g² cancels digits.
  check_values(after_three({.lr = 0.1, .centered = true}),
               {2.4224319880579022, -2.2224322065975817, -1.4224324083265558}, 1e-12);
  Tensor w = parameter({1});
  RMSprop all({w}, {.momentum = 0.5, .centered = true});
  CHECK(state_of(all).contains("0.grad_avg"));
  CHECK(state_of(all).contains("0.momentum_buffer"));
  const RMSpropOptions defaults;
  CHECK((defaults.lr == 1e-2 && defaults.alpha == 0.99 && defaults.eps == 1e-8 && !defaults.centered));
}

TEST_CASE("optimizers list their state by name") {
  Tensor w = parameter({1, 2, 3}), b = parameter({1});
  Adam adam_optimizer({w, b});
  SGD sgd_optimizer({w, b});
  std::vector<std::string> names;
  for (const auto& [name, buffer] : state_of(adam_optimizer)) names.push_back(name);
  CHECK(names == std::vector<std::string>{"0.first_moment", "0.second_moment", "1.first_moment",
                                          "1.second_moment", "steps"});
  CHECK(state_of(adam_optimizer).at("0.first_moment").shape() == Shape{3});
  CHECK(state_of(sgd_optimizer).size() == 1);
  Muon muon({ones({2, 2}).set_trainable()});
  CHECK(state_of(muon).size() == 2);
  CHECK(state_of(muon).contains("0.momentum"));
}

TEST_CASE("a step gives the same bits for 1, 2, 3 and 8 threads") {
  const int64_t n = 3 * (1 << 14) + 77;  // four chunks, the last one ragged
  for (const Dtype dtype : {Dtype::f32, Dtype::f64})
    for (const Row& row : rows) {
      CAPTURE(row.name);
      check_same_on_threads([&] {
        std::vector<Doubles> results;
        Tensor w = Rng(1).normal({n}, 0, 1, dtype).set_trainable(), b = parameter({1}, dtype);
        const Made optimizer = row.make(w, b);
        for (int t = 0; t < 2; ++t) {
          w.set_grad(Rng(2).split(static_cast<uint64_t>(t)).normal({n}, 0, 1, dtype));
          results.push_back({clip_grad_norm({w, b}, 1.0)});
          optimizer->step();
        }
        results.push_back(w.to_vector<double>());
        return results;
      });
    }
}

TEST_CASE("two optimizers of other betas that step in turn take the steps of each alone") {
  const std::vector<AdamWOptions> options = {
      {.lr = 0.1}, {.lr = 0.1, .beta1 = 0.5}, {.lr = 0.1, .beta1 = 0.5, .beta2 = 0.9}};
  const auto start = [] { return std::vector{parameter({1, -2, 3, 0.5})}; };
  std::vector<Tensor> alone;
  for (const AdamWOptions& of : options) {
    const std::vector<Tensor> w = start();
    AdamW optimizer(w, of);
    for (int t = 0; t < 3; ++t) set_gradient(w[0], t), optimizer.step();
    alone.push_back(w[0]);
  }
  std::vector<std::vector<Tensor>> in_turn;
  std::vector<std::unique_ptr<AdamW>> optimizers;
  for (const AdamWOptions& of : options)
    optimizers.push_back(std::make_unique<AdamW>(in_turn.emplace_back(start()), of));
  for (int t = 0; t < 3; ++t)
    for (size_t i = 0; i < options.size(); ++i) set_gradient(in_turn[i][0], t), optimizers[i]->step();
  for (size_t i = 0; i < options.size(); ++i) CHECK(same_bits(in_turn[i][0], alone[i]));
}

TEST_CASE("optimizers have PyTorch's defaults, Muon those of Keller Jordan's program") {
  const SGDOptions sgd;
  CHECK((sgd.lr == 1e-3 && sgd.momentum == 0 && !sgd.nesterov && sgd.weight_decay == 0));
  const AdamOptions adam;
  CHECK((adam.lr == 1e-3 && adam.beta1 == 0.9 && adam.beta2 == 0.999 && adam.eps == 1e-8));
  CHECK(adam.weight_decay == 0);
  CHECK_NOTHROW(Adam(std::vector{zeros(3).set_trainable()}, {.eps = 0}));
  const AdamWOptions adam_w;
  CHECK((adam_w.lr == 1e-3 && adam_w.beta1 == 0.9 && adam_w.beta2 == 0.999 && adam_w.eps == 1e-8));
  CHECK(adam_w.weight_decay == 0.01);
  const MuonOptions muon;
  CHECK((muon.lr == 0.02 && muon.momentum == 0.95 && muon.nesterov && muon.weight_decay == 0 &&
         muon.rounds == 5));
}

}  // namespace isobar::optimizer_test
