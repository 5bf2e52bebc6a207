// isobar doubt: how it reads tables, its law, and what it refuses.
#include <doctest/doctest.h>

#include "../../experiments/doubt/measure.h"
#include "../../experiments/doubt/verdict.h"
#include "../../experiments/run/stats.h"
#include "../message_of.h"
#include "../run.h"
#include "decay_nets.h"

namespace isobar::doubt_test {

using doctest::Approx;
using namespace isobar::doubt;

PrintedTable table_from(const std::string& text) {
  PrintedTable table;
  read_table(text, "t.toml", table);
  table.finish("t.toml: ");
  return table;
}

// Numbers of a normal walk: y_i = y_(i − 1) + a step of sd 0.1, as stds of layers are.
std::vector<std::vector<double>> walks(uint64_t seed, int64_t count, int64_t steps) {
  const Tensor normal = Rng(seed).normal({count, steps}, 0, 0.1, Dtype::f64);
  const std::vector<double> all = normal.to_vector<double>();
  std::vector<std::vector<double>> walks;
  for (int64_t i = 0; i < count; ++i) {
    double y = 0;
    std::vector<double>& walk = walks.emplace_back();
    for (int64_t k = 0; k < steps; ++k)
      walk.push_back(std::exp(y += all[static_cast<size_t>(i * steps + k)]));
  }
  return walks;
}

std::vector<Number> stds(int64_t count) {
  std::vector<Number> numbers;
  for (int64_t layer = 1; layer <= count; ++layer)
    numbers.push_back({.quantity = Quantity::std, .layer = layer, .text = "", .value = 0, .unit = 1e-4});
  return numbers;
}

TEST_CASE("a printed number knows the unit of its last digit") {
  CHECK(number_of(Quantity::std, 1, "0.8932", "t").unit == Approx(1e-4));
  CHECK(number_of(Quantity::std, 1, "0.90", "t").unit == Approx(1e-2));
  CHECK(number_of(Quantity::std, 1, "12", "t").unit == Approx(1));
  CHECK(number_of(Quantity::std, 1, "1.2e-05", "t").unit == Approx(1e-6));
  CHECK(number_of(Quantity::std, 1, "1.32e+36", "t").unit == Approx(1e34));
  CHECK(number_of(Quantity::mean, 1, "-0.02", "t").value == -0.02);
}

TEST_CASE("a table of eight lines gives net and numbers in the order of the net") {
  const PrintedTable table = table_from(R"(text = "a blog"
depth = 8
width = 64
init = "he_normal"
input_std = "1.0405"
std = "0.8932 - 0.4156 8:0.0163"
weight_gradient_norm = "7:0.12 0.43"
)");
  CHECK(table.text == "a blog");
  CHECK(table.net.width == 64);
  CHECK(table.net.init == "he_normal");
  std::string names;
  for (const Number& number : table.numbers) names += number.name() + " " + number.text + "\n";
  CHECK(names ==
        "std of the input 1.0405\nstd of layer 1 0.8932\nstd of layer 3 0.4156\nstd of layer 8 0.0163\n"
        "weight gradient norm of layer 8 0.43\nweight gradient norm of layer 7 0.12\n");
}

TEST_CASE("a wrong table is refused with its line and the repair") {
  const auto complaint = [](const std::string& text) { return message_of([&] { table_from(text); }); };
  CHECK(complaint("std = 0.8932\n") ==
        "t.toml, line 1: std: wanted the numbers as they are printed, in quotes: std = \"0.8932 0.6421\"");
  CHECK(
      holds(complaint("depth = 8\nstd = \"0.8x\"\n"),
            "t.toml, line 2: std: wanted a number as it is printed, such as 0.8932 or 1.2e-05, got '0.8x'"));
  CHECK(holds(complaint("std = \"nan\"\n"), "got 'nan'; write - for a layer that has none"));
  CHECK(holds(complaint("std = \"-0.5\"\n"), "line 1: std: a std cannot be negative, got -0.5"));
  CHECK(holds(complaint("depht = 8\n"), "line 1: the table: has no field 'depht'; did you mean depth?"));
  CHECK(holds(complaint("depth = 1\nstd = \"1 2\"\n"), "std of layer 2: the net has depth 1"));
  CHECK(holds(complaint("depth = 8\n"), "t.toml: no number is given; add one"));
  CHECK(holds(complaint("norm_std = \"1\"\n"), "norm_std: the net has no norm; give it one"));
  CHECK(holds(complaint("std = \"3:0.5 2:0.4\"\n"),
              "layer 2 stands after layer 3; give layers in their order"));
  CHECK(holds(complaint("init = \"he\"\nstd = \"1\"\n"), "t.toml, line 1: init"));
  CHECK(holds(complaint("order = \"relu_norm\"\nstd = \"1\"\n"),
              "--order relu_norm has no meaning without a norm"));
  CHECK(holds(complaint("std = \"1\n"), "t.toml, line 1"));
  const TemporaryFolder folder;
  folder.write(
      "overflows.toml",
      "depth = 40\nwidth = 256\nbatch = 2\ninit = \"normal01\"\nactivation = \"none\"\nstd = \"40:1e40\"\n");
  check_refusals({{"isobar doubt", "", "no number is given"},
                  {"isobar doubt", "missing.toml --std 1", "missing.toml"},
                  {"isobar doubt", "--std 0.5 --widht 8", "unknown option --widht; did you mean --width?"},
                  {"isobar doubt", "--std 0.5 --width none", "--width"},
                  {"isobar doubt", "overflows.toml", "the std of layer 40 overflows in"}},
                 folder);
}

TEST_CASE("what is measured is what decay_study measures") {
  const PrintedTable table = table_from(
      "depth = 3\nwidth = 16\nbatch = 4\nnorm = \"rmsnorm\"\ninput_std = \"1\"\nstd = \"1 1 1\"\nlinear_std = \"1\"\n"
      "norm_std = \"2:1\"\nmean = \"3:1\"\nweight_gradient_norm = \"1\"\noutput_gradient_norm = \"2:1\"\n");
  const std::vector<double> ours = measured(table.net, table.numbers, 5);
  const decay::Signals signals = decay::measure(table.net, 5);
  for (size_t i = 0; i < ours.size(); ++i) {
    const Number& number = table.numbers[i];
    CAPTURE(number.name());
    const decay::LayerSignal& layer =
        signals.layers[static_cast<size_t>(std::max<int64_t>(number.layer, 1) - 1)];
    const double theirs = number.quantity == Quantity::input_std              ? signals.input_std
                          : number.quantity == Quantity::linear_std           ? layer.linear_std
                          : number.quantity == Quantity::norm_std             ? layer.norm_std
                          : number.quantity == Quantity::std                  ? layer.output_std
                          : number.quantity == Quantity::mean                 ? layer.output_mean
                          : number.quantity == Quantity::weight_gradient_norm ? layer.weight_gradient_norm
                                                                              : layer.output_gradient_norm;
    CHECK(ours[i] == theirs);
  }
}

TEST_CASE("the deviation of one number given another is that of a prediction by a straight line") {
  const std::vector<std::vector<double>> nets = walks(1, 30, 2);
  const Law law(stds(2), nets);
  const std::vector<double> printed = {1.05, 0.9};
  const Deviation deviation = law.judge(printed, 0.001)[1].of(Given::others);
  // A textbook's: y = a + b x by least squares, the residual's sd with n − 2, the leverage of the new x.
  const double n = 30;
  std::vector<double> x, y;
  for (const auto& net : nets) x.push_back(std::log(net[0] + 1e-4)), y.push_back(std::log(net[1] + 1e-4));
  const double mx = spread_of(x).linear.mean, my = spread_of(y).linear.mean;
  double xx = 0, xy = 0, yy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mx) * (x[i] - mx), xy += (x[i] - mx) * (y[i] - my), yy += (y[i] - my) * (y[i] - my);
  }
  const double b = xy / xx, new_x = std::log(1.05 + 1e-4), new_y = std::log(0.9 + 1e-4);
  const double residual = std::sqrt((yy - b * xy) / (n - 2));
  const double t =
      (new_y - my - b * (new_x - mx)) / (residual * std::sqrt(1 + 1 / n + (new_x - mx) * (new_x - mx) / xx));
  CHECK(deviation.t == Approx(t).epsilon(1e-4));  // rounding and 1e-5 for sums join the variance
  CHECK(deviation.critical == Approx(student_quantile(1 - 0.001 / 12, 28)));
}

TEST_CASE(
    "of tables of normal walks one in a thousand is refused, and a number at 6 standard deviations found") {
  // 1500 tables are expected to give at most 1.5; more than 7 have a probability below 1e-3.
  int64_t refused = 0, found = 0, moved = 0;
  for (uint64_t k = 0; k < 3; ++k) {
    const Law law(stds(8), walks(10 + k, 200, 8)), truth(stds(8), walks(20 + k, 3000, 8));
    for (const std::vector<double>& table : walks(30 + k, 500, 8)) {
      const auto beyond = [&](const std::vector<double>& printed) {
        return std::ranges::any_of(law.judge(printed, error_rate), &JudgedNumber::beyond);
      };
      refused += beyond(table);
      if (moved >= 60 * static_cast<int64_t>(k + 1)) continue;
      std::vector<double> other = table;
      const size_t i = static_cast<size_t>(moved++ % 8);
      const Law::Expected expected = truth.given_others(table, i);
      other[i] = truth.from_law(i, expected.y + (moved % 2 == 0 ? 6 : -6) * expected.sd);
      found += beyond(other);
    }
  }
  CHECK(refused <= 7);
  CHECK(moved == 180);
  CHECK(found >= 171);  // 19 of 20
}

TEST_CASE("a coarsely rounded number is no contradiction, and a zero that should be one is") {
  PrintedTable table = table_from("depth = 2\nwidth = 32\ninit = \"he_normal\"\nstd = \"0.8 0.8\"\n");
  CHECK(judge(table).can);
  table = table_from("depth = 2\nwidth = 32\ninit = \"he_normal\"\nstd = \"0.8 0.0\"\n");
  CHECK_FALSE(judge(table).can);
  // 1e-12 of a std prints as 0.0000.
  table = table_from("depth = 40\nwidth = 32\ninit = \"default_nobias\"\nstd = \"40:0.0000\"\n");
  CHECK(judge(table).can);
}

TEST_CASE("numbers of another initialization are refused, and that initialization is named") {
  PrintedTable table =
      table_from("depth = 4\nwidth = 64\nstd = \"1 1 1 1\"\n");  // replaced by numbers of He's weights
  decay::Config he = table.net;
  he.init = "he_normal";
  const std::vector<double> printed = measured(he, table.numbers, 77'777);
  table.numbers.clear();
  for (size_t i = 0; i < printed.size(); ++i)
    table.numbers.push_back(
        number_of(Quantity::std, static_cast<int64_t>(i) + 1, fmt::format("{:.4f}", printed[i]), "t"));
  const Verdict verdict = judge(table);
  CHECK_FALSE(verdict.can);
  CHECK(holds(sentence_of(verdict), "These 4 numbers cannot come from this code: std of layer "));
  const Changes changes = nearest_changes(table);
  REQUIRE_FALSE(changes.nearest.empty());
  CHECK(holds(changes.nearest[0].flags, "--init he_"));
  CHECK(changes.nearest[0].can);
  CHECK(changes.nearest[0].factor < changes.own);
  const std::string report = report_of(table, verdict, &changes);
  CHECK(holds(report, "The nearest single change is --init he_"));
  CHECK(holds(report, ": the numbers can come from it"));
}

}  // namespace isobar::doubt_test
