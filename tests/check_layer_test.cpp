// check_layer on layers that break something, and on all of ours, which do not. tests/jury has wrong
// gradients.
#include "../nn/check_layer.h"

#include <doctest/doctest.h>

#include "../autograd/tape.h"
#include "../core/raw.h"
#include "../nn/activation.h"
#include "../nn/linear.h"
#include "message_of.h"
#include "module_table.h"
#include "run.h"
#include "thread_counts.h"

namespace isobar::check_layer_test {

namespace {

std::string first_line(const LayerReport& report) {
  const std::string text = report.text();
  return text.substr(0, text.find('\n'));
}

// x · weight, and whatever else a test wants of it.
struct Scale : Module {
  Tensor weight = ones(5).set_trainable();
  int calls = 0;

  Tensor forward(const Tensor& x) override { return x * weight; }
  void fields(Fields& f) override { f("weight", weight); }
};

template <class M>
LayerReport report_of(const CheckLayerOptions& options = {}) {
  return check_layer([] { return std::make_unique<M>(); }, Rng(1).normal({4, 5}), options);
}

struct WritesInput : Scale {
  Tensor forward(const Tensor& x) override {
    Tensor same = x.detach();
    if (x.dtype() == Dtype::f64 && x.numel() > 0) raw::write<double>(same)[0] = 3;
    return x * weight;
  }
};
struct WritesDy : Scale {
  Tensor forward(const Tensor& x) override {
    return record("writes_dy", (x.detach() * 2).detach(), {x}, [](const Tensor& dy) {
      Tensor dx = dy;
      if (dx.dtype() == Dtype::f64)
        for (int64_t i = 0; i < dx.numel(); ++i) raw::write<double>(dx)[i] *= 2;
      return dx;
    });
  }
  void fields(Fields&) override {}
};
struct Counts : Scale {
  Tensor forward(const Tensor& x) override { return x * weight * ++calls; }
};
struct Forgets : Scale {
  void fields(Fields&) override {}
};
struct ListsTwice : Scale {
  Tensor bias = zeros(5).set_trainable();
  Tensor forward(const Tensor& x) override { return x * weight + bias; }
  void fields(Fields& f) override {
    f("weight", weight);
    f("weight", bias);
  }
};
struct DividesByBatch : Scale {
  Tensor forward(const Tensor& x) override { return x * weight / (x.size(0) - 1.0); }
};
struct DropsRow : Scale {
  Tensor forward(const Tensor& x) override { return x.size(0) > 1 ? x * weight : concat({x, x}, 0) * weight; }
};
struct SeesLayout : Scale {
  Tensor forward(const Tensor& x) override { return x * weight * (x.is_contiguous() ? 1 : 2); }
};
struct ChangesInEvaluation : Scale {
  Tensor seen = zeros(1);
  Tensor forward(const Tensor& x) override {
    assign(seen, seen + 1);
    return x * weight;
  }
  void fields(Fields& f) override {
    f("weight", weight);
    f.buffer("seen", seen);
  }
};
struct RoundsToF32 : Scale {
  Tensor forward(const Tensor& x) override {
    return x.dtype() == Dtype::f32 ? x * weight * 1.001 : x * weight;
  }
};

}  // namespace

TEST_CASE("check_layer finds nothing wrong with any row of the module table") {
  for (const ModuleRow& row : module_rows()) SUBCASE(row.name.c_str()) {
      const LayerReport report = check_layer(row.make, input_of(row), {.large = 0});
      const std::string said = report.text();
      CHECK_MESSAGE(report.passed(), said);
    }
}

TEST_CASE("check_layer finds what else a layer may break") {
  CHECK(holds(first_line(report_of<WritesInput>()), "WRONG: inputs untouched: x [0, 0]: wanted "));
  CHECK(holds(first_line(report_of<WritesInput>()), ", got 3, it was written to; ops return new tensors"));
  CHECK(holds(first_line(report_of<Counts>()), "WRONG: repeated calls: y ["));
  CHECK(holds(first_line(report_of<Forgets>()),
              "WRONG: fields: forward uses a trainable tensor [5] that fields() does not list"));
  CHECK(holds(first_line(report_of<ListsTwice>()), "WRONG: fields: the name weight is listed twice"));
  CHECK(holds(first_line(report_of<DividesByBatch>()),
              "WRONG: batch of 1: y [0, 0] is infinite, for x [1, 5]"));
  CHECK(holds(report_of<DropsRow>().text(), "y must be [1, 5], got [2, 5]"));
  CHECK(holds(first_line(report_of<SeesLayout>()), "WRONG: strided input: y ["));
  CHECK(holds(first_line(report_of<ChangesInEvaluation>()),
              "WRONG: train and eval: a call in evaluation changes the state"));
  CHECK(holds(first_line(report_of<RoundsToF32>()), "WRONG: f32 against f64: y ["));
  CHECK(holds(first_line(report_of<Scale>({.output_shape = Shape{4, 6}})),
              "WRONG: forward: y must be [4, 6], got [4, 5]"));
  CHECK(holds(report_of<WritesDy>().text(), "backward wrote to dy while others could see it"));
  CHECK(report_of<Scale>().passed());
}

namespace {

// y = w · x + v · c, with the gradient of c forgotten where `forgets` is set.
struct TwoInputs : Module {
  Tensor w = full({5}, 1.5).set_trainable(), v = full({5}, 0.5).set_trainable();
  bool forgets = false;
  Tensor operator()(const Tensor& x, const Tensor& c) {
    return call([&] { return x * w + (forgets ? c.detach() : c) * v; });
  }
  void fields(Fields& f) override {
    f("w", w);
    f("v", v);
  }
};

LayerReport report_of_two_inputs(bool forgets) {
  const LayerMaker make = [forgets] {
    auto layer = std::make_unique<TwoInputs>();
    layer->forgets = forgets;
    return layer;
  };
  const LayerCall call = [](Module& m, const std::vector<Tensor>& in) {
    return dynamic_cast<TwoInputs&>(m)(in[0], in[1]);
  };
  return check_layer(make, std::vector{Rng(1).normal({4, 5}), Rng(2).normal({4, 1})}, {.call = call});
}

// Counts its calls, those of a recomputation too.
struct CountsTwice : Module {
  Tensor calls = zeros({1});
  Tensor forward(const Tensor& x) override {
    if (training()) assign(calls, calls + 1.0);
    return x * 2;
  }
  void fields(Fields& f) override { f.buffer("calls", calls); }
};

}  // namespace

TEST_CASE("check_layer checks a layer of two inputs by both") {
  const LayerReport right = report_of_two_inputs(false);
  INFO(right.text());
  CHECK(right.passed());
  CHECK(holds(right.text(), "TwoInputs on x [4, 5], [4, 1]: right"));
  CHECK(holds(right.text(), "gradient of x[1]"));
  const LayerReport wrong = report_of_two_inputs(true);
  CHECK_FALSE(wrong.passed());
  CHECK(holds(first_line(wrong), "WRONG gradient of x[1]"));
  CHECK(message_of([] {
          check_layer([] { return std::make_unique<TwoInputs>(); }, std::vector{ones({2, 5}), ones({2, 1})});
        }) == "check_layer: 2 inputs want options.call, which says how the layer takes them");
}

TEST_CASE("check_layer sees state that moves again when forward is recomputed") {
  CHECK(holds(
      first_line(report_of<CountsTwice>()),
      "WRONG: recompute: calls [0]: wanted 1, got 2; forward is computed again in backward; ask recomputing()"));
}

TEST_CASE("check_layer leaves the number of threads as it was where the layer throws on a large batch") {
  struct RefusesLarge : Scale {
    Tensor forward(const Tensor& x) override {
      check(x.size(0) <= 100, "refuses_large: wanted at most 100 rows, got {}", x.shape());
      return x * weight;
    }
  };
  const WithThreads guard(3);
  const LayerReport report = report_of<RefusesLarge>();
  CHECK(holds(report.text(), "refuses_large: wanted at most 100 rows"));
  CHECK(threads() == 3);
}

TEST_CASE("check_layer says which elements it skipped near a kink") {
  Tensor x = Rng(1).normal({3, 5}, 0, 1, Dtype::f64);
  raw::write<double>(x)[7] = 0;
  const LayerReport report = check_layer([] { return std::make_unique<ReLU>(); }, x);
  CHECK(report.passed());
  CHECK(holds(report.text(), "all 15 elements, within 1e-06 of differences"));
  CHECK(holds(report.text(),
              "1 of 15 skipped: near a kink, as at [1, 2] (slope 0 on the left, 1 on the right)"));
}

TEST_CASE("check_layer measures what a layer does to the signal") {
  const LayerReport report =
      check_layer([] { return std::make_unique<Linear>(64, 64, Rng(1), LinearOptions{.bias = false}); },
                  Rng(2).normal({4, 64}));
  CHECK(report.passed());
  // PyTorch's default weights have variance 1/(3 · 64): both ways the std is multiplied by √(1/3).
  CHECK(report.std_ratio == doctest::Approx(0.577).epsilon(0.05));
  CHECK(report.gradient_ratio == doctest::Approx(0.577).epsilon(0.05));
  const LayerReport same = report_of<Scale>();  // y = x and dx = dy at the start
  CHECK(same.std_ratio == doctest::Approx(1).epsilon(1e-12));
  CHECK(same.gradient_ratio == doctest::Approx(1).epsilon(1e-12));
  // 4096 weights are too many to move one by one.
  CHECK(holds(report.text(), "along 8 random directions, within 1e-06"));
}

namespace {

struct Logarithm : Module {
  Tensor forward(const Tensor& x) override { return log(x); }
  void fields(Fields&) override {}
};

}  // namespace

TEST_CASE("check_layer does not blame a layer for normal numbers outside of its domain") {
  const LayerReport report =
      check_layer([] { return std::make_unique<Logarithm>(); }, Rng(3).uniform({4, 5}, 1, 2));
  CHECK(report.passed());
  CHECK(holds(report.text(), "for normal numbers; is the layer undefined for some of them?"));
}

namespace {

// y = 3x with twice the gradient.
struct DoublesGradient : Module {
  Tensor forward(const Tensor& x) override {
    return record("doubles_gradient", (x.detach() * 3).detach(), {x},
                  [](const Tensor& dy) { return dy * 6; });
  }
};
// The gradients of x and weight are missing, in both modes, which differ.
struct Detaches : Scale {
  Tensor bias = zeros(5).set_trainable();
  Tensor forward(const Tensor& x) override {
    return x.detach() * weight.detach() * (training() ? 1 : 0.5) + bias;
  }
  void fields(Fields& f) override {
    Scale::fields(f);
    f("bias", bias);
  }
};
struct DetachesInput : Scale {
  Tensor forward(const Tensor& x) override { return x.detach() * weight * (training() ? 1 : 0.5); }
};
struct DetachesWeight : Scale {
  Tensor forward(const Tensor& x) override { return x * weight.detach(); }
};
struct HalvesInEvaluation : Scale {
  Tensor forward(const Tensor& x) override { return x * weight * (training() ? 1 : 0.5); }
};
struct CountsInTraining : Scale {
  Tensor forward(const Tensor& x) override { return training() ? x * weight * ++calls : x * weight; }
};
struct RefusesEvaluation : Scale {
  Tensor forward(const Tensor& x) override {
    check(training(), "refuses_evaluation: wanted training");
    return x * weight;
  }
};
struct DividesByZero : Scale {
  Tensor forward(const Tensor& x) override { return x * weight / 0.0; }
};
struct IsMean : Scale {
  Tensor forward(const Tensor& x) override { return mean(x * weight); }
};
struct Turns : Scale {
  Tensor forward(const Tensor& x) override { return transpose(x * weight); }
};

}  // namespace

TEST_CASE("a report shows the five worst entries of a wrong gradient") {
  const LayerReport report = report_of<DoublesGradient>();
  INFO(report.text());
  CHECK(report.diagnosis.cause == Cause::constant_factor);
  REQUIRE(report.worst.size() == 5);
  for (const GradientEntry& entry : report.worst) {
    CHECK(entry.tape == doctest::Approx(2 * entry.numeric));
    CHECK(holds(report.text(), "    " + entry.index + " "));
  }
  CHECK(holds(report.text(), "worst, for a random dy"));
  CHECK_FALSE(holds(report_of<Scale>().text(), "worst, for"));
}

TEST_CASE("a report names further wrong gradients once, whatever the number of modes") {
  CHECK(holds(first_line(report_of<Detaches>()),
              "WRONG gradient of x and weight (right: bias; look where x and weight meet): x: detached"));
  const LayerReport alone = report_of<DetachesInput>();
  INFO(alone.text());
  CHECK(alone.diagnosis.cause == Cause::detached);
  CHECK(holds(alone.text(), "  WRONG    gradient of x, in evaluation"));
  CHECK(holds(first_line(alone), "WRONG gradient of x (right: weight): detached"));
}

TEST_CASE("a layer whose result is not finite is checked no further") {
  const LayerReport report = report_of<DividesByZero>();
  CHECK(holds(first_line(report), "WRONG: forward: y [4, 5] holds NaN or infinity"));
  CHECK(report.checks.back().name == "forward");
}

TEST_CASE("checks after a missing gradient still say what they found") {
  const LayerReport report = report_of<DetachesWeight>();
  INFO(report.text());
  CHECK(holds(first_line(report), "WRONG gradient of weight"));
  CHECK(holds(report.text(), "the gradients of two uses add up"));
}

TEST_CASE("gradients are checked in evaluation too where that computes something else") {
  const std::string same = report_of<Scale>().text(), other = report_of<HalvesInEvaluation>().text();
  CHECK(holds(same, "  no difference\n"));
  CHECK_FALSE(holds(same, ", in evaluation"));
  CHECK(holds(other, "  ok       gradient of weight, in evaluation  all 5 elements"));
  CHECK(holds(
      other,
      "  training differs from evaluation, has no buffer and draws nothing; is a mask the same in every"));
  CHECK_FALSE(holds(report_of<CountsInTraining>().text(), "training draws from the tape's rng"));
}

TEST_CASE("a layer that throws in evaluation fails its checks") {
  const LayerReport report = report_of<RefusesEvaluation>();
  INFO(report.text());
  CHECK_FALSE(report.passed());
  CHECK(holds(report.text(), "threw: refuses_evaluation: wanted training"));
}

TEST_CASE("a result that does not begin with the batch may have any shape for other batches") {
  const LayerReport average = report_of<IsMean>(), turned = report_of<Turns>();
  INFO(average.text(), turned.text());
  CHECK(average.passed());
  CHECK(holds(average.text(), "y [] does not keep the batch, and is NaN without one"));
  CHECK(turned.passed());
  CHECK(holds(turned.text(), "  y [5, 1]\n"));
}

TEST_CASE("the batch is repeated to 65,536 elements for several threads unless asked otherwise") {
  CHECK(holds(report_of<Scale>().text(), "the same bits for x [13107, 5]"));
  CHECK(holds(report_of<Scale>({.large = 100}).text(), "the same bits for x [20, 5]"));
}

TEST_CASE("a report begins what was found in one column, after the longest name") {
  LayerReport report{.layer = "Mish on x [2]",
                     .checks = {{"forward", LayerCheck::passed, "y [2]"},
                                {"signal", LayerCheck::skipped, "x holds indices"}},
                     .diagnosis = {},
                     .worst = {},
                     .std_ratio = 1,
                     .gradient_ratio = 1};
  CHECK(report.text() ==
        "Mish on x [2]: right, 2 checks\n"
        "  ok       forward           y [2]\n"
        "  skipped  signal            x holds indices\n");
  report.checks.push_back({"gradient of alpha, in evaluation", LayerCheck::failed, "no"});
  CHECK(report.text() ==
        "Mish on x [2]: WRONG: gradient of alpha, in evaluation: no\n"
        "  ok       forward                           y [2]\n"
        "  skipped  signal                            x holds indices\n"
        "  WRONG    gradient of alpha, in evaluation  no\n");
}

TEST_CASE("the check_layer program checks our layers by name") {
  const Outcome run = run_built("check_layer", "RMSNorm Dropout");
  INFO(run.out, run.err);
  CHECK(run.code == 0);
  CHECK(holds(run.out, "RMSNorm on x [4, 5]: right, "));
  CHECK(holds(run.out, "training draws from the tape's rng, evaluation does not"));
  CHECK(holds(run.out, "the same bits for x [13107, 5]"));
  const Outcome tape = run_built("check_layer", "--tape 'SwiGLU'");
  CHECK(tape.code == 0);
  CHECK(holds(tape.out, "-> [3, 6] f32, 72 B, norm "));
  CHECK(holds(tape.out, ", in down_proj\nbackward\n"));
  CHECK_FALSE(holds(tape.out, "no gradient"));
  const Outcome drawing = run_built("check_layer", "SwiGLU --dot");
  CHECK(holds(drawing.out, "subgraph cluster_0 {\n    label=\"down_proj\";"));
  CHECK(run_built("check_layer", "--dto SwiGLU").code == 2);
  CHECK(run_built("check_layer", "SwiGLU --tape --dot").code == 2);
  const Outcome unknown = run_built("check_layer", "RNSNorm");
  CHECK(unknown.code == 2);
  CHECK(holds(unknown.err, "check_layer: no layer is called 'RNSNorm'; there are: Linear, "));
}

}  // namespace isobar::check_layer_test
