// The norms, forward and backward: x is (N, C), every parameter trainable, dy given.
//
// At least x is read and y written, then x and dy are read and dx written: 5 N C floats moved, in four
// arrays.
#include <fmt/format.h>

#include "../../autograd/autograd.h"
#include "case.h"

namespace isobar::bench {
namespace {

// y = f(x, parameters).
using Norm = std::function<Tensor(const Tensor& x, const std::vector<Tensor>& parameters)>;

Step norm_step(int64_t n, int64_t c, std::vector<Tensor> trained, const Norm& norm) {
  const Rng rng(0);
  trained.push_back(rng.split("x").normal({n, c}));
  for (Tensor& t : trained) t.set_trainable();
  return [trained, norm, dy = rng.split("dy").normal({n, c})] {
    Tape tape;
    tape.backward(norm(trained.back(), trained), dy);
    for (const Tensor& t : trained) t.clear_grad();
  };
}

void add_norm(Cases& cases, const std::string& name, const std::function<Step(int64_t n, int64_t c)>& make) {
  struct Size {
    int64_t n, c;
  };
  for (const Size size : {Size{4096, 512}, {4096, 2048}, {8192, 768}, {32, 512}}) {
    const double bytes = 4.0 * static_cast<double>(size.n * size.c);
    cases.push_back({.name = fmt::format("{}_fwdbwd_{}x{}", name, size.n, size.c),
                     .work = moved_bytes(5 * bytes, 4 * bytes),
                     .setup = [make, size] { return make(size.n, size.c); }});
  }
}

}  // namespace

void add_norms(Cases& cases) {
  add_norm(cases, "rmsnorm", [](int64_t n, int64_t c) {
    return norm_step(n, c, {ones({c})},
                     [c](const Tensor& x, const auto& p) { return rms_norm(x, {c}, p[0], 1e-5); });
  });
  add_norm(cases, "layernorm", [](int64_t n, int64_t c) {
    return norm_step(n, c, {ones({c}), zeros({c})},
                     [c](const Tensor& x, const auto& p) { return layer_norm(x, {c}, p[0], p[1], 1e-5); });
  });
  add_norm(cases, "dyt", [](int64_t n, int64_t c) {
    return norm_step(n, c, {full({1}, 0.5), ones({c}), zeros({c})},
                     [](const Tensor& x, const auto& p) { return dyt(x, p[0], p[1], p[2]); });
  });
  add_norm(cases, "dyisru", [](int64_t n, int64_t c) {
    return norm_step(n, c, {ones({1}), ones({c}), zeros({c})},
                     [](const Tensor& x, const auto& p) { return dyisru(x, p[0], p[1], p[2]); });
  });
}

}  // namespace isobar::bench
