// Observation: what a Probe says against the same numbers computed by hand.
#include "../../nn/observe.h"

#include "../../nn/nn.h"
#include "../small_tensors.h"
#include "../thread_counts.h"

namespace isobar::observe_test {

// The definition, in long double: an oracle that shares no code with moments_of.
Moments direct_moments(const Tensor& x) {
  const std::vector<double> values = x.to_vector<double>();
  long double sum = 0, squares = 0, centred = 0;
  for (double value : values) sum += value, squares += static_cast<long double>(value) * value;
  const long double n = values.size(), mean = sum / n;
  for (double value : values) centred += (value - mean) * (value - mean);
  return {static_cast<double>(mean), static_cast<double>(std::sqrt(centred / (n - 1))),
          static_cast<double>(std::sqrt(squares / n)), static_cast<double>(std::sqrt(squares))};
}

void check_equal(const Moments& a, const Moments& b) {
  CHECK(a.mean == doctest::Approx(b.mean).epsilon(1e-12).scale(b.rms));
  CHECK(std::abs(a.std / b.std - 1) < 1e-12);
  CHECK(std::abs(a.rms / b.rms - 1) < 1e-12);
  CHECK(std::abs(a.norm / b.norm - 1) < 1e-12);
}

TEST_CASE("moments are those of the definition, in f32 and f64, for any size and layout") {
  for (int64_t n : {2, 7, 8, 9, 1000, 32768, 32769, 100003}) {
    CAPTURE(n);
    for (Dtype dtype : {Dtype::f32, Dtype::f64}) {
      const Tensor x = Rng(1).normal(Shape{n}, 3, 2, dtype);
      check_equal(moments_of(x), direct_moments(x));
    }
  }
  const Tensor x = Rng(2).normal({30, 50});
  check_equal(moments_of(transpose(x)), direct_moments(x));
}

TEST_CASE("moments of values whose squares leave the range of float are neither zero nor infinite") {
  for (double size : {1e-40, 1e-25, 1e26}) {
    CAPTURE(size);
    const Tensor x = Rng(1).normal(Shape{1000}, 0, size);
    CHECK(moments_of(x).std == doctest::Approx(size).epsilon(0.12).scale(0));  // five standard errors
    CHECK(moments_of(x).norm == doctest::Approx(size * std::sqrt(1000)).epsilon(0.12).scale(0));
  }
}

TEST_CASE("moments of doubles whose squares leave the range of doubles keep their digits") {
  const Tensor x = row({1, 2, 4, 5});
  for (const double scale : {0x1p-700, 0x1p700}) {
    CAPTURE(scale);
    const Moments far = moments_of(x * scale), near = moments_of(x);
    CHECK(far.std / scale == near.std);
    CHECK(far.rms / scale == near.rms);
    CHECK(far.norm / scale == near.norm);
  }
}

TEST_CASE("the std of nearly equal large values survives: variance is taken in two passes") {
  const Tensor x = Rng(1).normal(Shape{10000}, 1e9, 1e-3, Dtype::f64);
  CHECK(moments_of(x).std == doctest::Approx(1e-3).epsilon(0.04).scale(0));
}

TEST_CASE("one value has no sample std, and no values have no moments") {
  CHECK(std::isnan(moments_of(ones({1})).std));
  CHECK(moments_of(ones({1})).mean == 1);
  CHECK(std::isnan(moments_of(ones({0})).mean));
  CHECK(moments_of(ones({0})).norm == 0);
}

TEST_CASE("the share along 1 is 1 for equal elements, 0 for a mean of 0, else the cosine") {
  CHECK(rms_alignment(tensor({2, 3}, std::vector<double>{2, 2, 2, -7, -7, -7})) ==
        doctest::Approx(1).epsilon(1e-15));
  CHECK(rms_alignment(tensor({3}, std::vector<double>{1, -3, 2})) == 0);
  // Cosines 7 / (√2 5) and 0 in two rows.
  CHECK(rms_alignment(tensor({2, 1, 2}, std::vector<double>{3, 4, 1, -1})) ==
        doctest::Approx(0.7).epsilon(1e-15));
  CHECK(std::isnan(rms_alignment(tensor({2, 2}, std::vector<double>{3, 4, 0, 0}))));
}

TEST_CASE("moments have the same bits on any number of threads") {
  const Tensor x = Rng(1).normal(Shape{300001});
  check_same_on_threads([&] {
    const Moments m = moments_of(x);
    return std::vector{m.mean, m.std, m.rms, m.norm};
  });
}

TEST_CASE("a probe keeps each module's output moments and gradient norm") {
  Sequential model(Linear(6, 5, Rng(1)), ReLU(), Linear(5, 3, Rng(2)));
  const Tensor x = Rng(3).normal({4, 6}), dy = Rng(4).normal({4, 3});
  const auto part = [&](size_t i) -> Module& { return *model.parts[i]; };
  const Tensor h = part(0)(x), a = part(1)(h), y = part(2)(a);
  // By hand: da = dy W2, dh = da where h > 0.
  const Tensor da = matmul(dy, dynamic_cast<Linear&>(part(2)).weight.detach());
  std::vector<float> dh = da.to_vector<float>();
  for (size_t i = 0; i < dh.size(); ++i)
    if (h.to_vector<float>()[i] <= 0) dh[i] = 0;

  Probe probe;
  {
    const Watch guard(model, probe);
    Tape tape;
    tape.backward(model(x), dy);
  }
  REQUIRE(probe.signals().size() == 4);
  const std::vector<std::string> paths{"0", "1", "2", ""}, types{"Linear", "ReLU", "Linear", "Sequential"};
  const std::vector<Tensor> outputs{h, a, y, y}, gradients{tensor({4, 5}, dh), da, dy, dy};
  for (size_t i = 0; i < 4; ++i) {
    CAPTURE(i);
    const ModuleSignal& signal = probe.signals()[i];
    CHECK(signal.path == paths[i]);
    CHECK(signal.type == types[i]);
    check_equal(signal.output, direct_moments(outputs[i]));
    CHECK(signal.gradient_norm == doctest::Approx(direct_moments(gradients[i]).norm).epsilon(1e-6));  // f32
    CHECK(probe.find(paths[i]) == &signal);
  }
  CHECK(probe.find("3") == nullptr);
  Probe of_part;
  const Watch also(part(2), of_part);
  model(x);
  CHECK((of_part.find("") != nullptr && of_part.find("2") == nullptr));
  of_part.clear();
  CHECK(of_part.signals().empty());
}

TEST_CASE("a module called twice keeps its last call, and one that was not called is absent") {
  struct Twice : Module {
    Softcap cap{3}, unused{1};
    Tensor forward(const Tensor& x) override { return cap(10 * cap(x)); }
    void fields(Fields& f) override {
      f("cap", cap);
      f("unused", unused);
    }
  };
  Twice model;
  const Tensor x = Rng(1).normal(Shape{8}).set_trainable();
  Probe probe;
  {
    const Watch guard(model, probe);
    Tape tape;
    tape.backward(model(x), ones({8}));
  }
  check_equal(probe.find("cap")->output, direct_moments(model(x.detach())));
  CHECK(probe.find("cap")->gradient_norm == doctest::Approx(std::sqrt(8.0)));  // of dy itself
  CHECK(probe.find("unused") == nullptr);
}

TEST_CASE("a module whose output reaches no loss has no gradient norm, not the last step's") {
  Sequential model(Linear(3, 3, Rng(1)), ReLU());
  Probe probe;
  const Watch guard(model, probe);
  const Tensor x = Rng(2).normal({2, 3});
  {
    Tape tape;
    tape.backward(sum(model(x)));
  }
  CHECK(probe.find("0")->gradient_norm > 0);
  model(x);
  CHECK(std::isnan(probe.find("0")->gradient_norm));
}

TEST_CASE("an observer sees values outside of recording, and may compute with them") {
  struct Curious : Observer {
    double total = 0;
    void on_output(const Module&, const Tensor& y) override { total += sum(square(y)).item(); }
    void on_output_gradient(const Module&, const Tensor& dy) override { total += sum(square(dy)).item(); }
  };
  Linear layer(3, 3, Rng(1));
  Curious observer;
  const Watch guard(layer, observer);
  Tape tape;
  const Tensor y = layer(Rng(2).normal({2, 3}));
  CHECK(tape.recorded() == 2);  // linear and observe
  tape.backward(sum(y));
  CHECK(observer.total > 0);
}

TEST_CASE("second derivatives pass through a watched module") {
  Softcap layer(1);
  Probe probe;
  const Watch guard(layer, probe);
  Tensor x = full({1}, 0.5, Dtype::f64);
  x.set_trainable();
  Tape tape({.higher_order = true});
  const Tensor dx = tape.gradient(layer(x), {x})[0];
  const double t = std::tanh(0.5);
  CHECK(tape.gradient(dx, {x})[0].item() == doctest::Approx(-2 * t * (1 - t * t)));
}

TEST_CASE("weight norms, gradient norms and update ratios are those of the definition") {
  Linear layer(4, 3, Rng(1));
  const std::vector<double> before = layer.weight.to_vector<double>();
  {
    Tape tape;
    tape.backward(sum(square(layer(Rng(2).normal({5, 4})))));
  }
  Probe probe;
  probe.before_step(layer);
  REQUIRE(probe.weights().size() == 2);
  CHECK(probe.weights()[0].name == "weight");
  CHECK(probe.weights()[0].norm == doctest::Approx(direct_moments(layer.weight).norm));
  CHECK(probe.weights()[0].gradient_norm == doctest::Approx(direct_moments(layer.weight.grad()).norm));
  CHECK(std::isnan(probe.weights()[0].update_ratio));
  assign(layer.weight, layer.weight.detach() - 0.1 * layer.weight.grad());
  probe.after_step(layer);
  const double step = 0.1 * direct_moments(layer.weight.grad()).norm;
  CHECK(probe.weights()[0].update_ratio ==
        doctest::Approx(step / probe.weights()[0].norm).epsilon(1e-5));  // the step is rounded to f32
  CHECK(probe.weights()[1].update_ratio == 0);
  CHECK_THROWS_WITH_AS(probe.after_step(layer), doctest::Contains("call before_step before the step"), Error);
  probe.before_step(layer);
  Sequential another{Linear(4, 3, Rng(1))};
  CHECK_THROWS_WITH_AS(probe.after_step(another), "probe: parameter 0.weight was weight in before_step",
                       Error);
}

TEST_CASE("a parameter without a gradient has the gradient norm NaN") {
  Linear layer(2, 2, Rng(1));
  Probe probe;
  probe.before_step(layer);
  CHECK(std::isnan(probe.weights()[0].gradient_norm));
}

TEST_CASE("an output of integers has the moments NaN, and is no error") {
  Identity layer;
  Probe probe;
  const Watch guard(layer, probe);
  const Tensor tokens = Rng(1).integers({2, 3}, 5);
  CHECK(layer(tokens).to_vector<int64_t>() == tokens.to_vector<int64_t>());
  REQUIRE(probe.signals().size() == 1);
  const ModuleSignal& signal = probe.signals()[0];
  CHECK(signal.type == "Identity");
  for (const double value :
       {signal.output.mean, signal.output.std, signal.output.rms, signal.output.norm, signal.gradient_norm})
    CHECK(std::isnan(value));
  CHECK_THROWS_WITH_AS(moments_of(tokens), doctest::Contains("moments: wanted f32 or f64"), Error);
}

}  // namespace isobar::observe_test
