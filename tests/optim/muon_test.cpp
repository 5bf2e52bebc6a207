// Muon. Literals come from PyTorch 1.13.1 through tests/fixtures/muon_literals.py.
#include "../../optim/muon.h"
#include "../../core/address_sanitizer.h"
#include "../../nn/model.h"
#include "../same_tensors.h"
#include "../small_tensors.h"
#include "../thread_counts.h"

namespace isobar::muon_test {

struct Row {
  const char* name;
  MuonOptions options;
  std::vector<Doubles> weights;  // (3, 2), (2, 4) and (2, 2) after 5 steps
};

// One row a line reads best: the formatter would spread each over four.
// clang-format off
const std::vector<Row> literals = {
    {"muon", {},
     {{-0.5823132803103341, -0.3146304890149552, 0.0290750293479355, 0.16833137350308097, 0.4494142535387511,
       0.7740479099512286},
      {-0.5377921153347581, -0.26220375922831163, 0.05156392312212734, 0.20475854396113088,
       0.46565857691565404, 0.775342972559925, 0.9445698766956264, 1.1867676316318867},
      {-0.5722815315943472, -0.292818416309386, 0.04236826570433511, 0.17503656239028095}}},
    {"muon without nesterov", {.momentum = 0.8, .nesterov = false},
     {{-0.5814034449239363, -0.31344091530111634, 0.030304634127281606, 0.17017939412474084,
       0.4507009977840047, 0.775486739984995},
      {-0.5375296430885976, -0.2612786500841295, 0.05100744500557587, 0.2046709162009487,
       0.46494034459899003, 0.7760208163787341, 0.944735690787843, 1.1854427184940688},
      {-0.5727582026394048, -0.2948149540819573, 0.041513263623326704, 0.1755212930888355}}},
    {"muon with weight decay", {.lr = 0.1, .weight_decay = 0.3},
     {{-0.8164859632089533, -0.5253380660147929, 0.12123880938058049, -0.17492444334023044,
       0.19419883353561596, 0.7481447590372017},
      {-0.610700320329306, -0.27467105575850004, 0.23525354635737586, 0.0014663643229587732,
       0.2649483611402868, 0.7653844808401856, 0.5983442591905785, 0.7736544203996525},
      {-0.7731878722436849, -0.41810460166111413, 0.19466250738831206, -0.13726788336277776}}},
    {"muon of three rounds", {.rounds = 3},
     {{-0.5796926403284365, -0.3125757829119181, 0.027843441080932844, 0.1700451473974994,
       0.45036334134269446, 0.7726522365960944},
      {-0.5383695194434013, -0.2633499719044234, 0.05544778871117778, 0.2046702350450645, 0.4677079740535464,
       0.7744332430370731, 0.9445387746381076, 1.1900925814307197},
      {-0.5739887814104292, -0.2965918588126501, 0.03902087880245797, 0.17614133136723467}}},
};
// clang-format on

// w[i] = i / 4 − 1/2, as the fixture has it.
std::vector<Tensor> weights(Dtype dtype) {
  std::vector<Tensor> all;
  for (const Shape& shape : {Shape{3, 2}, Shape{2, 4}, Shape{2, 2}})
    all.push_back((reshape(raw::cast(arange(shape.numel()), dtype), shape) / 4 - 0.5).set_trainable());
  return all;
}

// dx[i] = sin(2 i + 1) + x[i] / 2 + t / 8
void set_gradient(const Tensor& x, int t) {
  Doubles dx = x.to_vector<double>();
  for (size_t i = 0; i < dx.size(); ++i)
    dx[i] = std::sin(2 * static_cast<double>(i) + 1) + dx[i] / 2 + t / 8.0;
  x.set_grad(raw::cast(tensor(x.shape(), dx), x.dtype()));
}

TEST_CASE("muon takes the steps of its author's code") {
  for (const Row& row : literals)
    for (const Dtype dtype : {Dtype::f64, Dtype::f32}) {
      INFO("name ", row.name, ", dtype ", name_of(dtype));
      const std::vector<Tensor> w = weights(dtype);
      Muon muon(w, row.options);
      for (int t = 0; t < 5; ++t) {
        for (const Tensor& x : w) set_gradient(x, t);
        muon.step();
      }
      // Five rounds of an iteration with slope 3.4 at zero: 3.4⁵ = 480 roundings' worth in each of five steps.
      for (size_t i = 0; i < w.size(); ++i)
        check_values(w[i], row.weights[i], dtype == Dtype::f64 ? 1e-12 : 1e-5);
    }
}

TEST_CASE("the scale of the gradient has no influence on muon's step, and a gradient of zeros makes none") {
  const auto after = [](double factor, const Tensor& dw) {
    Tensor w = ones(dw.shape(), Dtype::f64).set_trainable();
    w.set_grad(dw);
    Muon({w}, {.lr = 0.5}).step(factor);
    return w;
  };
  const Tensor dw = Rng(3).normal({4, 6}, 0, 1, Dtype::f64);
  check_values(after(0.125, dw), after(1, dw).to_vector<double>(), 1e-5);  // eps
  check_values(after(1, zeros({4, 6}, Dtype::f64)), Doubles(24, 1));
}

TEST_CASE("muon gives the same bits for 1, 2, 3 and 8 threads, and asks for no new blocks on one") {
  check_same_on_threads([] {
    std::vector<Tensor> w;
    for (uint64_t i = 0; i < 6; ++i)
      w.push_back(Rng(1).split(i).normal({17 + 40 * static_cast<int64_t>(i), 96}).set_trainable());
    Muon muon(w);
    uint64_t blocks = 0;
    for (uint64_t t = 0; t < 6; ++t) {
      if (t == 2) blocks = memory::stats().system_blocks;
      for (uint64_t i = 0; i < 6; ++i) w[i].set_grad(Rng(2).split(t).split(i).normal(w[i].shape()));
      muon.step();
    }
    // With more, each thread's products have panels of their own: the first time that two run at once may
    // come late. AddressSanitizer keeps no blocks.
    if (threads() == 1 && !watched()) CHECK(memory::stats().system_blocks == blocks);
    std::vector<Doubles> results;
    for (const Tensor& x : w) results.push_back(x.to_vector<double>());
    return results;
  });
}

TEST_CASE("a matrix without gradient or without elements stays, and NaN shows") {
  Tensor idle = ones({2, 2}).set_trainable(), empty = zeros({0, 3}).set_trainable(),
         bad = ones({2, 3}).set_trainable();
  Muon muon({idle, empty, bad}, {.momentum = 0, .weight_decay = 0.5});
  empty.set_grad(zeros({0, 3}));
  bad.set_grad(raw::cast(tensor({2, 3}, Doubles{1, 2, std::nan(""), 4, 5, 6}), Dtype::f32));
  muon.step();
  CHECK(idle.to_vector<double>() == Doubles(4, 1));
  for (const double x : bad.to_vector<double>()) CHECK(std::isnan(x));
}

}  // namespace isobar::muon_test
