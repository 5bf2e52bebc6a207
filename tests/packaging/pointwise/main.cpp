// DyT as a user writes it: check_layer passes it, and it has the bits of the library's own.
#include <cstdio>
#include <memory>
#include <vector>

#include <isobar/autograd/ops.h>
#include <isobar/autograd/pointwise.h>
#include <isobar/core/rng.h>
#include <isobar/nn/check/check_layer.h>
#include <isobar/nn/module.h>

using isobar::Shape;
using isobar::Tensor;

namespace {

struct OwnDyT : isobar::Module {
  Tensor alpha = isobar::full({1}, 0.5).set_trainable(), weight, bias;

  explicit OwnDyT(const Shape& width)
      : weight(isobar::ones(width).set_trainable()), bias(isobar::zeros(width).set_trainable()) {}
  Tensor forward(const Tensor& x) override {
    return isobar::pointwise(
        "own_dyt", [](auto v, auto a, auto w, auto b) { return w * tanh(a * v) + b; }, x, scalar(alpha),
        channel(weight), channel(bias));
  }
  void fields(isobar::Fields& f) override {
    f("alpha", alpha);
    f("weight", weight);
    f("bias", bias);
  }
};

bool same(const Tensor& a, const Tensor& b) { return a.to_vector<float>() == b.to_vector<float>(); }

// The elementary functions, compiled here and in the library.
bool same_functions(const Tensor& x) {
  const Tensor up = isobar::abs(x);
  const auto alike = [](auto function, Tensor (*op)(const Tensor&), const Tensor& of) {
    return same(isobar::pointwise("own", function, of), op(of));
  };
  return alike([](auto v) { return exp(v); }, isobar::exp, x) &&
         alike([](auto v) { return expm1(v); }, isobar::expm1, x) &&
         alike([](auto v) { return log(v); }, isobar::log, up) &&
         alike([](auto v) { return log1p(v); }, isobar::log1p, up) &&
         alike([](auto v) { return sin(v); }, isobar::sin, x) &&
         alike([](auto v) { return cos(v); }, isobar::cos, x) &&
         alike([](auto v) { return erf(v); }, isobar::erf, x);
}

}  // namespace

int main() {
  const isobar::Rng rng(1);
  const isobar::LayerReport report =
      isobar::check_layer([] { return std::make_unique<OwnDyT>(Shape{5}); }, rng.normal({4, 5}));
  std::fputs(report.text().c_str(), stdout);

  OwnDyT layer(Shape{33});
  const Tensor x = rng.normal({300, 33}).set_trainable();
  const std::vector<Tensor> leaves{x, layer.alpha, layer.weight, layer.bias};
  isobar::Tape tape;
  const Tensor own = layer(x), theirs = isobar::dyt(x, layer.alpha, layer.weight, layer.bias);
  const std::vector<Tensor> d_own = tape.gradient(square(own), leaves, isobar::ones(own.shape()));
  const std::vector<Tensor> d_theirs = tape.gradient(square(theirs), leaves, isobar::ones(own.shape()));
  bool alike = same(own, theirs);
  for (size_t i = 0; i < leaves.size(); ++i) alike &= same(d_own[i], d_theirs[i]);
  std::printf("%s bits as isobar::dyt\n", alike ? "the same" : "other");

  const Tensor many = rng.normal({100'000}, 0, 4);
  const bool functions = same_functions(many);
  std::printf("%s bits in the functions of ops.h\n", functions ? "the same" : "other");
  return report.passed() && alike && functions ? 0 : 1;
}
