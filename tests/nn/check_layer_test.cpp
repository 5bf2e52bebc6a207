// check_layer on all of our layers, and the form of its report. wrong_layers_test.cpp has its sentences.
#include "../../nn/check/check_layer.h"

#include "../../nn/activation.h"
#include "../../nn/linear.h"
#include "../message_of.h"
#include "../module_table.h"
#include "../run.h"
#include "../thread_counts.h"
#include "wrong_layers.h"

namespace isobar::check_layer_test {

using namespace wrong_layers;
using wrong_layers::In;

TEST_CASE("check_layer finds nothing wrong with any row of the module table") {
  for (const ModuleRow& row : module_rows()) SUBCASE(row.name.c_str()) {
      const LayerReport report = check_layer(row.make, input_of(row), {.large = 0});
      const std::string said = report.text();
      CHECK_MESSAGE(report.passed(), said);
    }
}

TEST_CASE("check_layer checks a layer of two inputs by both") {
  const std::vector<Tensor> weights{full({5}, 1.5), full({5}, 0.5)};
  const LayerInputs inputs = std::vector{numbers({4, 5}), numbers({4, 1}, 2)};
  check_rows({{"right",
               of([](In x, In c, In w, In v) { return x * w + c * v; }, weights),
               {"FunctionLayer on x [4, 5], [4, 1]: right", "gradient of x[1]"},
               inputs},
              {"the gradient of one forgotten",
               of([](In x, In c, In w, In v) { return x * w + c.detach() * v; }, weights),
               {"WRONG gradient of x[1]"},
               inputs}});
  CHECK(message_of([&] { check_layer(of([](In x, In c) { return x + c; }, {}), inputs); }) ==
        "check_layer: 2 inputs want options.call, which says how the layer takes them");
}

TEST_CASE("check_layer leaves the number of threads as it was where the layer throws on a large batch") {
  const WithThreads guard(3);
  check_rows({{"refuses large batches",
               of([](In x) {
                 check(x.size(0) <= 100, "refuses_large: wanted at most 100 rows, got {}", x.shape());
                 return x * 2;
               }),
               {"WRONG", "refuses_large: wanted at most 100 rows"}}});
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
  CHECK(report.std_ratio == doctest::Approx(0.577).epsilon(0.05).scale(0));
  CHECK(report.gradient_ratio == doctest::Approx(0.577).epsilon(0.05).scale(0));
  const LayerReport same = report_of({"", of([](In x, In w) { return x * w; }), {}});  // y = x at the start
  CHECK(same.std_ratio == doctest::Approx(1).epsilon(1e-12));
  CHECK(same.gradient_ratio == doctest::Approx(1).epsilon(1e-12));
  // 4096 weights are too many to move one by one.
  CHECK(holds(report.text(), "along 8 random directions, within 1e-06"));
}

TEST_CASE("a report shows the five worst entries of a wrong gradient") {
  const LayerReport report =
      report_of({"twice", by_hand([](In x) { return x * 3; }, [](In dy, In, In) { return dy * 6; }), {}});
  INFO(report.text());
  CHECK(report.diagnosis.cause == Cause::constant_factor);
  REQUIRE(report.worst.size() == 5);
  for (const GradientEntry& entry : report.worst) {
    CHECK(entry.tape == doctest::Approx(2 * entry.numeric));
    CHECK(holds(report.text(), "    " + entry.index + " "));
  }
  CHECK(holds(report.text(), "worst, for a random dy"));
  const std::string right = report_of({"", of([](In x, In w) { return x * w; }), {}}).text();
  CHECK_FALSE(holds(right, "worst, for"));
  CHECK_FALSE(holds(right, ", in evaluation"));
  CHECK(holds(right, "each row alone    the same numbers\n"));
  const auto alone = [](const auto& f) { return report_of({"", of(f), {}}).text(); };
  CHECK(holds(alone([](In x, In w) { return x * w + mean(x); }),
              "skipped  each row alone    y of a row depends on the rows beside it: row 0 of 67: y [0, "));
  CHECK(holds(alone([](bool training, In x) { return training ? x - mean(x, {0}, true) : x; }),
              "the same numbers in evaluation; in training, y of a row depends on the rows beside it"));
  const auto calls = std::make_shared<int>(0);
  const LayerRow counts{"", of([=](bool training, In x) { return training ? x * ++*calls : x; }), {}};
  CHECK_FALSE(holds(report_of(counts).text(), "training draws from the tape's rng"));
}

TEST_CASE("a layer whose result is not finite is checked no further") {
  const LayerReport report = report_of({"", of([](In x) { return x / 0.0; }), {}});
  CHECK(holds(report.text(), ": WRONG: forward: y [4, 5] holds NaN or infinity"));
  CHECK(holds(report.text(), "forward must run first"));
  CHECK(report.checks.back().name == "all else");
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
  CHECK(holds(run.out, "bit-identical for x [13107, 5]"));
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
