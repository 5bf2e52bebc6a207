// Layers whose backward is not meant to give the slope of y, and say so: CheckLayerOptions::expected.
#include <doctest/doctest.h>

#include "../../autograd/tape.h"
#include "../../nn/check/check_layer.h"
#include "../holds.h"

namespace isobar::expected_gradient_test {

// What is said of one check.
std::string said(const LayerReport& report, const std::string& name) {
  for (const LayerCheck& check : report.checks)
    if (check.name == name) return (check.outcome == LayerCheck::passed ? "ok: " : "not ok: ") + check.text;
  return "no such check";
}

template <class M>
LayerReport report_of(const CheckLayerOptions& options = {}) {
  return check_layer([] { return std::make_unique<M>(); }, Rng(1).normal({4, 5}), options);
}

struct StraightThrough : Module {
  Tensor weight = ones(5).set_trainable();
  Tensor forward(const Tensor& x) override {
    std::vector<double> signs = x.to_vector<double>();
    for (double& v : signs) v = v > 0 ? 1 : -1;
    const Tensor y = cast(tensor(x.shape(), signs), x.dtype());
    return record("sign", y, {x}, [](const Tensor& dy) { return dy; }) * weight;
  }
  void fields(Fields& f) override { f("weight", weight); }
};
// dx = −dy.
struct Reverses : Module {
  Tensor forward(const Tensor& x) override {
    return record("reverses", affine(x.detach(), 1, 0), {x}, [](const Tensor& dy) { return dy * -1.0; });
  }
};
struct ReversesInTraining : Reverses {
  Tensor forward(const Tensor& x) override { return training() ? Reverses::forward(x) : x * 2; }
};
struct Doubles : Module {
  Tensor forward(const Tensor& x) override { return x * 2; }
};

TEST_CASE("a layer may say which derivative it intends") {
  const LayerCall reversed = [](Module&, const std::vector<Tensor>& in) { return in[0] * -1.0; };
  CHECK_FALSE(report_of<Reverses>().passed());
  const LayerReport report = report_of<Reverses>({.expected = reversed});
  INFO(report.text());
  CHECK(report.passed());
  CHECK(holds(said(report, "gradient of x"),
              "ok: as expected: not the slope of y, but that of options.expected; all 20"));
  CHECK_FALSE(report_of<Reverses>({.expected = [](Module&, const std::vector<Tensor>& in) {
                return in[0] * 0.5;
              }}).passed());
  CHECK(
      holds(report_of<Doubles>({.expected = [](Module&, const std::vector<Tensor>& in) { return in[0] * 2; }})
                .text(),
            "options.expected: all gradients are the slopes of y itself; leave it out"));
  CHECK(holds(
      report_of<Reverses>({.expected = [](Module&, const std::vector<Tensor>& in) { return sum(in[0]); }})
          .text(),
      "options.expected must give [4, 5], as f does, got []"));
}

TEST_CASE("a derivative that is intended in training alone needs none in evaluation") {
  const LayerReport report =
      report_of<ReversesInTraining>({.expected = [](Module& m, const std::vector<Tensor>& in) {
        return in[0] * (m.training() ? -1.0 : 2.0);
      }});
  INFO(report.text());
  CHECK(report.passed());
}

TEST_CASE("of a straight-through layer only the input's gradient is another than the slope of y") {
  const LayerReport report =
      report_of<StraightThrough>({.expected = [](Module& m, const std::vector<Tensor>& in) {
        return in[0] * dynamic_cast<StraightThrough&>(m).weight;
      }});
  INFO(report.text());
  CHECK(report.passed());
  CHECK(holds(said(report, "gradient of x"), "ok: as expected"));
  CHECK(holds(said(report, "gradient of weight"), "ok: all 5 elements"));
}

}  // namespace isobar::expected_gradient_test
