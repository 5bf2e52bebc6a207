// Are the derivatives of source 004 right, and is its derivation of DyT and DyISRU from RMSNorm sound?
//
// Claims (source 004, DyT and DyISRU from RMSNorm's gradient): RMSNorm's Jacobian is (1/rms)(I − y yᵀ/d),
// that of x/‖x‖ is I/‖x‖ − x xᵀ/‖x‖³; with a constant rms its diagonal is solved by y = √d tanh(x/(ρ√d)),
// which is DyT with √d and ρ absorbed, and with rms = x/y by y = √d x/√(x² + C); DyISRU is the best
// elementwise result.
#include <numbers>

#include "../../../nn/nn.h"
#include "../../run/program.h"
#include "curves.h"
#include "fit.h"

using namespace isobar;
using namespace isobar::jacobian;

namespace {

struct Config : HasFields {
  int64_t seeds = 5;   // enough to see that rounding and fits do not hang on one draw
  int64_t rows = 128;  // for the fits; of 512 elements each: 65536 elements pin a mean to half a percent

  void fields(Fields& f) override {
    f("seeds", seeds, "runs, each with its own inputs", at_least(1));
    f("rows", rows, "rows of 512 elements that the curves are fitted to", at_least(1));
  }
};

// y of element 0, for each x, in rows (1, d) of x and d − 1 ones of alternating sign, f64.
Vector outputs(Module&& module, int64_t d, const Vector& xs) {
  convert(module, Dtype::f64);
  Vector row(static_cast<size_t>(d)), ys;
  for (size_t i = 1; i < row.size(); ++i) row[i] = i % 2 == 0 ? 1 : -1;
  for (const double x : xs) {
    row[0] = x;
    ys.push_back(module(tensor({1, d}, row)).at({0, 0}));
  }
  return ys;
}

// What becomes of one element x among d whose others are ±1, in RMSNorm (measured on the module), beside
// DyTSqrtD, DyISRU with C = d, and DyT, all as they are initialised; and how far the three are from RMSNorm.
void plot_curves(Run& run, int64_t d) {
  constexpr int points = 80;
  const auto n = static_cast<double>(d);
  Vector xs, tanh_theory, isru_theory, norm_theory;
  for (int i = 0; i <= points; ++i) {
    const double x = 6 * std::sqrt(n) * i / points;
    xs.push_back(x);
    norm_theory.push_back(std::sqrt(n) * x / std::sqrt(x * x + n - 1));
    tanh_theory.push_back(std::sqrt(n) * std::tanh(x / std::sqrt(n)));
    isru_theory.push_back(std::sqrt(n) * x / std::sqrt(x * x + n));
  }
  const Vector norm = outputs(RMSNorm(d), d, xs), dyt_sqrtd = outputs(DyTSqrtD(d), d, xs),
               dyisru = outputs(DyISRU(d), d, xs), dyt = outputs(DyT(d), d, xs);
  run.plot({.title = {fmt::format("one element of {}, the others ±1", d),
                      fmt::format("{} 个元素之一，其余为 ±1", d)},
            .x = "x",
            .y = "y",
            .curves = {{"RMSNorm", Role::measured, xs, norm},
                       {"DyT with √d", Role::measured, xs, dyt_sqrtd},
                       {"DyISRU, C = d", Role::measured, xs, dyisru},
                       {"DyT, α = 0.5", Role::measured, xs, dyt},
                       {"√d x/√(x² + d − 1)", Role::theory, xs, norm_theory},
                       {"√d tanh(x/√d)", Role::theory, xs, tanh_theory},
                       {"√d x/√(x² + d)", Role::theory, xs, isru_theory}},
            .key = "curves",
            .figures = {"ode.", "bound.", "dyt_as_dyt_sqrtd"}});

  const auto distance = [&](const char* label, const Vector& y) {
    Vector apart;
    for (size_t i = 0; i < y.size(); ++i) apart.push_back(std::abs(y[i] - norm[i]));
    return PlotCurve{label, Role::measured, xs, apart};
  };
  run.plot({.title = {fmt::format("distance from RMSNorm, one element of {}", d),
                      fmt::format("与 RMSNorm 的距离，{} 个元素之一", d)},
            .x = "x",
            .y = {"|y − RMSNorm's y|", "|y − RMSNorm 的 y|"},
            .log = true,
            .curves = {distance("DyT with √d", dyt_sqrtd), distance("DyISRU, C = d", dyisru),
                       distance("DyT, α = 0.5", dyt)},
            .key = "distance",
            .figures = {"fit.", "exact_per_element"}});
}

double sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }

void measure_curve(Measurements& measurements, const std::string& name, Module& clip, double (*y)(double)) {
  std::vector<double> points;
  for (int i = -100'000; i <= 100'000; ++i) points.push_back(i / 1000.0);
  const Tensor x = tensor(Shape{static_cast<int64_t>(points.size())}, points);
  const std::vector<double> values = clip(x).to_vector<double>();
  double gap = 0, bound = 0;
  for (size_t i = 0; i < points.size(); ++i) {
    gap = std::max(gap, std::abs(std::clamp(points[i], -1.0, 1.0) - values[i]));
    bound = std::max(bound, std::abs(values[i]));
  }
  measurements.add("clip." + name + ".largest_gap", gap, 1 - y(1));
  measurements.add("clip." + name + ".bound", bound, y(100));
  for (const int k : {1, 10, 100}) {
    const std::vector<double> steep = clip(x * k).to_vector<double>();
    double largest = 0;
    for (size_t i = 0; i < points.size(); ++i)
      if (std::abs(points[i]) >= 1) largest = std::max(largest, std::abs(sign(points[i]) - steep[i]));
    measurements.add(fmt::format("sign.{}.gap.k{}", name, k), largest, 1 - y(k));
  }
}

// With a cap of 1, where tanh and x/√(1 + x²) are themselves: the largest |clip(x, −1, 1) − y|, at x = 1, the
// largest |y|, and the largest |sign(x) − y(k x)| over |x| ≥ 1. "chain.sign.error": x/√x², RMSNorm of one
// number, against sign(x); "chain.sign.mse": against RMSNorm of 512 numbers N(0, 1): E(|x| − 1)² = 2 − 2√(2/π),
// with a row's rms as 1.
void measure_clips(Measurements& measurements, const Rng& rng) {
  Softcap softcap(1);
  ISRUClip isru(1);
  measure_curve(measurements, "tanh", softcap, [](double x) { return std::tanh(x); });
  measure_curve(measurements, "isru", isru, [](double x) { return x / std::sqrt(1 + x * x); });
  const Tensor x = rng.normal({128, 512}, 0, 1, Dtype::f64);
  const Tensor signs = reshape(rms_norm(reshape(x, {x.numel(), 1}), {1}, {}, 0), x.shape());
  double error = 0;
  const std::vector<double> inputs = x.to_vector<double>(), outputs = signs.to_vector<double>();
  for (size_t i = 0; i < inputs.size(); ++i) error = std::max(error, std::abs(outputs[i] - sign(inputs[i])));
  measurements.add("chain.sign.error", error, 0);
  measurements.add("chain.sign.mse", mean(square(signs - rms_norm(x, {512}, {}, 0))).item(),
                   2 - 2 * std::sqrt(2 * std::numbers::inv_pi));
}

constexpr int64_t widths[] = {4, 64, 512};

void print_jacobians(Run& run, const Measurements& measurements) {
  Table table({"Jacobian", "d", "|ours − closed form|", "|J − Jᵀ|", "‖J v‖/‖v‖", "rank"}, "lrrrrr");
  for (const char* function : {"rmsnorm", "layernorm", "unit", "rmsnorm_eps", "layernorm_eps"})
    for (const int64_t d : widths) {
      const auto most = [&](const char* what) {
        return number_text(measurements.spread(fmt::format("jacobian.{}.d{}.{}", function, d, what)).max);
      };
      table.row({function, std::to_string(d), most("max_abs_diff"), most("asymmetry"),
                 most(std::string(function).ends_with("_eps") ? "null_with_eps" : "null"), most("rank")});
    }
  run.say("Derivatives, the largest of all seeds (v = x, or x − mean):\n{}\n", table.text());
}

void print_odes(Run& run, const Measurements& measurements) {
  Table table({"curve", "slope − equation", "differences − equation", "integrated − curve"}, "lrrr");
  const auto row = [&](const std::string& name) {
    const auto most = [&](const char* what) {
      return number_text(measurements.spread("ode." + name + what).max);
    };
    table.row({name, most(".slope_residual"), most(".finite_difference_residual"), most(".integrated_diff")});
  };
  for (const int64_t d : widths) {
    row(fmt::format("dyt_sqrtd.d{}", d));
    for (const int64_t c : {int64_t{1}, d - 1, d}) row(fmt::format("dyisru.d{}.c{}", d, c));
  }
  run.say("Differential equations, the largest residuals:\n{}\n", table.text());
}

void print_fits(Run& run, const Measurements& measurements) {
  Table table({"inputs", "gain", "DyT's error", "DyISRU's error", "DyISRU / DyT"}, "llrrr");
  for (const char* sample :
       {"normal", "student_t3", "outlier_channel", "outlier_alone", "rest_alone", "sweep_alone"})
    for (const char* kind : {"fit", "fit_gain"}) {
      const auto cell = [&](const char* what) {
        return spread_text(measurements.spread(fmt::format("{}.{}.{}", kind, sample, what)));
      };
      table.row({sample, std::string(kind) == "fit" ? "1" : "free", cell("dyt.mse"), cell("dyisru.mse"),
                 cell("dyisru_over_dyt")});
    }
  run.say("Mean squared error of the best curve against RMSNorm, d = 512:\n{}\n", table.text());
}

void print_populations(Run& run, const Measurements& measurements) {
  Table table({"inputs", "gain", "least error", "DyISRU / least", "DyT / least", "y = x / least"}, "llrrrr");
  for (const char* inputs : {"normal", "outlier_channel", "constant_outlier"})
    for (const char* kind : {"fit", "fit_gain"}) {
      const auto cell = [&](const char* what) {
        return fmt::format("{:.6g}",
                           measurements.spread(fmt::format("{}.{}.{}_over_best", kind, inputs, what)).median);
      };
      table.row({inputs, std::string(kind) == "fit" ? "1" : "free",
                 fmt::format("{:.5g}", measurements.spread(fmt::format("fit.{}.best_mse", inputs)).median),
                 cell("dyisru"), cell("dyt"), cell("identity")});
    }
  run.say(
      "Mean squared errors of the best curve, in units of that of E[y|x], the best function of one element:\n"
      "{}\n",
      table.text());
}

void print_clips(Run& run, const Measurements& measurements) {
  Table table({"curve", "largest gap to the clip", "|y| at most", "gap to sign, k = 1", "k = 10", "k = 100"},
              "lrrrrr");
  for (const std::string curve : {"tanh", "isru"}) {
    const auto cell = [&](const std::string& key) { return spread_text(measurements.spread(key)); };
    table.row({curve, cell("clip." + curve + ".largest_gap"), cell("clip." + curve + ".bound"),
               cell("sign." + curve + ".gap.k1"), cell("sign." + curve + ".gap.k10"),
               cell("sign." + curve + ".gap.k100")});
  }
  run.say("Smooth clips with a cap of 1, and signs y(k x) for |x| from 1 on:\n{}\n", table.text());
}

// Rounding: a few ulps of numbers around 1, and of √d where outputs reach it.
void expect_closed_forms(Run& run, const Measurements& measurements) {
  measurements.expect_close(run, ".max_abs_diff", 1e-13);
  measurements.expect_close(run, ".asymmetry", 1e-14);
  measurements.expect_close(run, ".null", 1e-14);
  measurements.expect_close(run, ".null_over_theory", 1e-8);  // 1e-16 of 1e-6
  measurements.expect_close(run, ".rank", 0);
  measurements.expect_close(run, ".closed_form_diff", 1e-12);
  measurements.expect_close(run, ".remainder", 1e-14);
  measurements.expect_close(run, ".finite_difference_diff", 1e-6);  // of steps of 1e-5: 1e-10, 1e-16/1e-5
  measurements.expect_close(run, ".slope_residual", 1e-13);
  measurements.expect_close(run, ".finite_difference_residual", 1e-9);
  measurements.expect_close(run, ".integrated_diff", 1e-8);
  measurements.expect_close(run, ".formula_diff", 1e-14);
  measurements.expect_close(run, ".alpha_gradient_diff", 1e-12);
  for (const int64_t d : widths)
    measurements.expect_close(run, fmt::format("norm.d{}", d), 1e-9);  // eps: 1e-12
  for (const char* key : {".largest_gap", ".gap.k1", ".gap.k10", ".gap.k100", ".bound", "chain.sign.error"})
    measurements.expect_close(run, key, 1e-15);  // ulps of 1
}

}  // namespace

int main(int argc, char** argv) {
  Config config;
  const Program program{.name = "norm_jacobian",
                        .about =
                            "Are the derivatives of source 004 right, and is its derivation of DyT and\n"
                            "DyISRU from RMSNorm sound? Ours by backward, theirs by formula, in f64.",
                        .example = "norm_jacobian --seeds 1 --rows 16",
                        .page = "studies/norm_jacobian/README.md",
                        .trained = trains_no_nets,
                        .tiny = "--seeds 1 --rows 8"};
  return run_program(program, config, argc, argv, [&](Run& run) {
    Measurements measurements;
    {
      Progress progress = run.progress(config.seeds, "seeds");
      for (int64_t i = 0; i < config.seeds; ++i) {
        const Rng rng(static_cast<uint64_t>(run.seed() + i));
        for (const int64_t d : widths) {
          const Rng own = rng.split(static_cast<uint64_t>(d));
          measure_jacobians(measurements, d, own.split("jacobian"));
          measure_second_derivatives(measurements, d, own.split("second"));
          measure_expansions(measurements, d, own.split("expansion"));
          measure_dyt(measurements, d, own.split("dyt"));
          measure_dyt_as_dyt_sqrtd(measurements, d, own.split("dyt_sqrtd"));
          measure_exact_per_element(measurements, d, own.split("exact"));
        }
        measure_fits(measurements, config.rows, 512, rng.split("fit"));
        measure_clips(measurements, rng.split("clips"));
        progress.advance();
      }
    }
    for (const int64_t d : widths) {
      measure_odes(measurements, d, run);
      measure_bounds(measurements, d);
    }
    measure_populations(measurements, 512);
    measurements.publish(run);
    plot_curves(run, 512);
    print_jacobians(run, measurements);
    print_odes(run, measurements);
    print_fits(run, measurements);
    print_populations(run, measurements);
    print_clips(run, measurements);
    expect_closed_forms(run, measurements);
  });
}
