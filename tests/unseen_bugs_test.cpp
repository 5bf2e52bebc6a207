// Layers whose mistake no single call on the example shows: check_layer finds each of them, and says where.
#include <doctest/doctest.h>

#include "../autograd/tape.h"
#include "../core/memory.h"
#include "../core/raw.h"
#include "../nn/check_layer.h"
#include "../nn/layer_norm.h"
#include "holds.h"

namespace isobar::unseen_bugs_test {

namespace {

std::string first_line(const LayerReport& report) {
  const std::string text = report.text();
  return text.substr(0, text.find('\n'));
}

// What is said of one check, after its outcome.
std::string said(const LayerReport& report, const std::string& name) {
  for (const LayerCheck& check : report.checks)
    if (check.name == name)
      return (check.outcome == LayerCheck::passed   ? "ok: "
              : check.outcome == LayerCheck::failed ? "WRONG: "
                                                    : "skipped: ") +
             check.text;
  return "no such check";
}

template <class M>
LayerReport report_of(const CheckLayerOptions& options = {}) {
  return check_layer([] { return std::make_unique<M>(); }, Rng(1).normal({4, 5}), options);
}

// y = 2x whose backward is `twice`.
template <class Backward>
Tensor doubled(const Tensor& x, const Backward& twice) {
  const Tensor y = affine(x.detach(), 2, 0);
  return record("doubled", y, {x}, twice);
}

Tensor raw_loop(const Tensor& dy, int64_t count) {
  Tensor dx = zeros(dy.shape(), dy.dtype());
  dispatch_float("raw_loop", dy.dtype(), [&]<class T>() {
    T* const to = raw::write<T>(dx);
    const T* const from = dy.data<T>();
    for (int64_t i = 0; i < count; ++i) to[i] = 2 * from[i];
  });
  return dx;
}

// Reads dy as if it were contiguous.
struct ContiguousDy : Module {
  Tensor forward(const Tensor& x) override {
    return doubled(x, [](const Tensor& dy) { return raw_loop(dy, dy.numel()); });
  }
};

// Right for every batch but one of a single row.
struct BatchOneWrong : Module {
  Tensor forward(const Tensor& x) override {
    return doubled(x, [](const Tensor& dy) { return dy * (dy.size(0) == 1 ? 1 : 2); });
  }
};

// Rows from the 1025th on get no gradient.
struct LargeRowsDropped : Module {
  Tensor forward(const Tensor& x) override {
    return doubled(x, [](const Tensor& dy) {
      const Tensor all = raw::contiguous(dy);
      return raw_loop(all,
                      std::min<int64_t>(all.size(0), 1024) * all.numel() / std::max<int64_t>(all.size(0), 1));
    });
  }
};

// Keeps the mask of its first call.
struct StaleFirstCall : Module {
  std::vector<double> mask;
  Tensor forward(const Tensor& x) override {
    if (mask.size() != static_cast<size_t>(x.numel())) {
      mask = x.to_vector<double>();
      for (double& v : mask) v = v > 0;
    }
    return x * cast(tensor(x.shape(), mask), x.dtype());
  }
};

// Keeps a table, one scale for each channel, that it computed from the x of its first call.
struct CachedTable : Module {
  std::vector<double> table;
  Tensor forward(const Tensor& x) override {
    if (table.empty()) {
      const NoTape pause;
      table = sqrt(mean(square(x.detach()), {0})).to_vector<double>();
    }
    return x * cast(tensor({5}, table), x.dtype());
  }
};

// Keeps what it computed from its weight in the first call.
struct CachedWeight : Module {
  Tensor weight = ones(5).set_trainable();
  Tensor table;
  Tensor forward(const Tensor& x) override {
    if (!table.defined() || table.dtype() != x.dtype()) table = exp(weight.detach());
    const Tensor e = table;
    return record("cached", x.detach() * e, {x, weight}, [x = x.detach(), e](const Tensor& dy) {
      return std::vector{dy * e, dy * x * e};
    });
  }
  void fields(Fields& f) override { f("weight", weight); }
};

Tensor fused_square(const Tensor& x) {
  return record("square", square(x.detach()), {x}, [x = x.detach()](const Tensor& dy) { return dy * x * 2; });
}
struct ComposedDiffers : Module {
  Tensor forward(const Tensor& x) override { return composed_wanted() ? x * x * x : fused_square(x); }
};
struct NoComposed : Module {
  Tensor forward(const Tensor& x) override { return fused_square(x); }
};
struct Composed : Module {
  Tensor forward(const Tensor& x) override { return composed_wanted() ? x * x : fused_square(x); }
};

// Has a kink at the example's elements.
struct AtKink : Module {
  Tensor forward(const Tensor& x) override { return relu(x - 1) * x; }
};

struct NotTrainable : Module {
  Tensor weight = ones(5);
  Tensor forward(const Tensor& x) override { return x * weight; }
  void fields(Fields& f) override { f("weight", weight); }
};

struct UpdatesTwice : Module {
  Tensor running_mean = zeros(5);
  Tensor forward(const Tensor& x) override {
    if (training() && x.size(0) > 0) {
      const NoTape pause;
      assign(running_mean, running_mean * 0.9 + mean(x.detach(), {0}) * 0.1);
    }
    return training() ? x * 2 : x * 2 - running_mean;
  }
  void fields(Fields& f) override { f.buffer("running_mean", running_mean); }
};

// The mean of no rows is NaN, and stays.
struct NanAfterEmptyBatch : Module {
  Tensor running_mean = zeros(5);
  Tensor forward(const Tensor& x) override {
    if (training() && !recomputing()) {
      const NoTape pause;
      assign(running_mean, running_mean * 0.9 + mean(x.detach(), {0}) * 0.1);
    }
    return training() ? x * 2 : x * 2 - running_mean;
  }
  void fields(Fields& f) override { f.buffer("running_mean", running_mean); }
};

// Lists a parameter that no forward uses.
struct Unused : Module {
  Tensor weight = ones(5).set_trainable(), u = ones(5).set_trainable();
  Tensor forward(const Tensor& x) override { return x * weight; }
  void fields(Fields& f) override {
    f("weight", weight);
    f("u", u);
  }
};
// Uses it in evaluation alone.
struct UsedInEvaluation : Unused {
  Tensor forward(const Tensor& x) override { return training() ? x * weight : x * weight + u; }
};

// Without NoTape: the square is on the tape twice.
struct RecordedTwice : Module {
  Tensor forward(const Tensor& x) override {
    if (composed_wanted()) return x * x;
    const Tensor y = square(x);
    return record("square", y.detach(), {x}, [x = x.detach()](const Tensor& dy) { return dy * x * 2; });
  }
};

}  // namespace

TEST_CASE("check_layer finds a backward that reads dy without its strides") {
  CHECK(holds(first_line(report_of<ContiguousDy>()),
              "WRONG: strided input: gradient of x [0, 1]: wanted 2, got -14, "
              "for dy of stride 0, as sum(y) gives it"));
}

TEST_CASE("check_layer finds gradients that are wrong for one row, or for many") {
  CHECK(holds(first_line(report_of<BatchOneWrong>()), "WRONG: batch of 1: gradient of x [0, "));
  const std::string large = said(report_of<LargeRowsDropped>(), "large batch");
  CHECK(holds(large, "WRONG: gradient of x [10"));
  CHECK(holds(large, "got 0; this is for 1031 rows, which repeat the example"));
}

TEST_CASE("check_layer compares a layer that was used with a fresh one") {
  for (const LayerReport& report :
       {report_of<StaleFirstCall>(), report_of<CachedTable>(), report_of<CachedWeight>()}) {
    INFO(report.text());
    CHECK(holds(first_line(report), "WRONG: another call: y ["));
    CHECK(holds(first_line(report), ", for another x [4, 5] after a first call, against a fresh layer"));
  }
}

TEST_CASE("check_layer compares the composed form with the fused one, or says that there is none") {
  CHECK(holds(first_line(report_of<ComposedDiffers>()), "WRONG: composed form: y ["));
  CHECK(holds(said(report_of<NoComposed>(), "composed form"), "skipped: second derivatives: none"));
  Tensor one_at_kink = full({4, 5}, 2.5);
  raw::write<float>(one_at_kink)[0] = 1;
  CHECK(said(check_layer([] { return std::make_unique<AtKink>(); }, one_at_kink), "composed form") ==
        "skipped: second derivatives: not compared near a kink");
  CHECK(said(report_of<Composed>(), "composed form") ==
        "ok: the same values and gradients; second derivatives agree with differences");
}

TEST_CASE("check_layer finds state that is not trained, moves twice or keeps NaN") {
  CHECK(holds(
      first_line(report_of<NotTrainable>()),
      "WRONG: fields: weight is listed as a parameter and is not trainable; list it with f.buffer, or"));
  CHECK(holds(first_line(report_of<UpdatesTwice>()), "WRONG: recompute: running_mean ["));
  CHECK(holds(first_line(report_of<NanAfterEmptyBatch>()),
              "WRONG: batch of 0: running_mean [0] is NaN, for x [0, 5]"));
}

TEST_CASE("check_layer names a parameter that no forward uses, and ops recorded for nothing") {
  CHECK(holds(first_line(report_of<Unused>()),
              "WRONG: gradient of u: forward uses it neither in training nor in"));
  CHECK(report_of<UsedInEvaluation>().passed());
  const LayerReport twice = report_of<RecordedTwice>();
  CHECK(twice.passed());
  CHECK(holds(said(twice, "inputs untouched"),
              "y does not depend on the recorded square: compute it under NoTape"));
}

TEST_CASE("the f32 check allows what the rounding of x does to y") {
  const auto norm = [] { return std::make_unique<LayerNorm>(5); };
  const LayerReport report = check_layer(norm, Rng(1).normal({4, 5}, 1000, 1));
  INFO(report.text());
  CHECK(report.passed());
}

TEST_CASE("a gradient of which no element could be compared is not called right") {
  const LayerReport at_kink = check_layer([] { return std::make_unique<AtKink>(); }, ones({4, 5}));
  CHECK(holds(first_line(at_kink),
              "WRONG gradient of x: not compared: each of its 20 elements is near a kink, as [0, 0]"));
  // ReLU of each column's sum: every element is near a kink, and the second factor tells its gradient all the
  // same.
  struct Partly : Module {
    bool wrong = false;
    Tensor forward(const Tensor& x) override {
      const Tensor y = concat({relu(x), square(x.detach() + 1)}, 1);
      return record("partly", y.detach(), {x}, [x = x.detach(), wrong = wrong](const Tensor& dy) {
        return where(x > 0, slice(dy, 1, 0, 5), 0) + slice(dy, 1, 5, 10) * (x + 1) * (wrong ? 3 : 2);
      });
    }
  };
  for (const bool wrong : {false, true}) {
    const LayerReport report = check_layer(
        [=] {
          auto layer = std::make_unique<Partly>();
          layer->wrong = wrong;
          return layer;
        },
        zeros({4, 5}));
    INFO(report.text());
    CHECK(holds(report.text(), "20 of 20 only where y has none: near a kink, as at [0, 0]"));
    CHECK(said(report, "gradient of x").starts_with(wrong ? "WRONG" : "ok"));
  }
}

TEST_CASE("a forward that rounds to f32 is compared at larger steps, and told") {
  struct InF32 : Module {
    bool with_sum = true;
    Tensor forward(const Tensor& x) override {
      const Tensor p = cast(softmax(cast(x.detach(), Dtype::f32)), x.dtype());
      return record("softmax in f32", p * 1.0, {x}, [p, sums = with_sum](const Tensor& dy) {
        return sums ? p * (dy - sum(p * dy, {-1}, true)) : p * dy;
      });
    }
  };
  const auto report_of_sum = [](bool with_sum) {
    return check_layer(
        [=] {
          auto layer = std::make_unique<InF32>();
          layer->with_sum = with_sum;
          return layer;
        },
        Rng(1).normal({4, 5}));
  };
  const LayerReport right = report_of_sum(true), wrong = report_of_sum(false);
  INFO(right.text(), wrong.text());
  CHECK(right.passed());
  CHECK(said(right, "gradient of x") ==
        "ok: all 20 elements, within 1e-03 of differences; forward rounds to f32");
  CHECK(wrong.diagnosis.cause == Cause::missing_term);
}

TEST_CASE(
    "check_layer takes a layer that has no batch where the options say so, and names them where they do not") {
  struct FourRows : Module {
    Tensor weight = Rng(3).normal({4, 4}).set_trainable();
    Tensor forward(const Tensor& x) override { return matmul(weight, x); }
    void fields(Fields& f) override { f("weight", weight); }
  };
  const LayerReport told = report_of<FourRows>({.batch = false}), untold = report_of<FourRows>();
  INFO(told.text(), untold.text());
  CHECK(told.passed());
  CHECK(said(told, "large batch") == "skipped: options.batch is false");
  CHECK(said(told, "1, 2, 8 threads") == "ok: the same bits for x [4, 5]");
  CHECK(holds(said(untold, "large batch"), "is dimension 0 of x no batch? Then give options.batch = false"));
  CHECK(holds(said(untold, "1, 2, 8 threads"),
              "is dimension 0 of x no batch? Then give options.batch = false"));
}

TEST_CASE("what is frozen in a part is told by its path, and what is dropped in every step alike is wrong") {
  struct Around : Module {
    NotTrainable part;
    Tensor scale = ones(1).set_trainable();
    Tensor forward(const Tensor& x) override { return part(x) * scale; }
    void fields(Fields& f) override {
      f("part", part);
      f("scale", scale);
    }
  };
  const LayerReport frozen = report_of<Around>();
  CHECK(frozen.passed());
  CHECK(said(frozen, "fields") == "ok: part.weight, scale; frozen: part.weight");
  struct FixedMask : Module {
    Tensor forward(const Tensor& x) override { return training() ? dropout(x, 0.4, Rng(42)) : x; }
  };
  CHECK(holds(
      first_line(report_of<FixedMask>()),
      "WRONG: train and eval: in training y is evaluation's times 0 or 1.67, with the same zeros in every step"));
  struct HiddenMask : Module {
    Tensor forward(const Tensor& x) override { return sum(training() ? dropout(x, 0.4, Rng(42)) : x, {1}); }
  };
  CHECK(
      said(report_of<HiddenMask>(), "train and eval") ==
      "ok: training differs from evaluation, has no buffer and draws nothing; is a mask the same in every step?");
}

TEST_CASE("a layer whose rows meet each other is checked with fewer of them, and in little memory") {
  struct RowsMeet : Module {
    Tensor forward(const Tensor& x) override { return mean(x, {1}) - mean(x, {1}, true); }
  };
  struct Hidden : Module {
    Tensor forward(const Tensor& x) override { return sum(tanh(mean(x, {1}) - mean(x, {1}, true)), {1}); }
  };
  memory::reset_peak();
  const size_t before = memory::stats().peak_bytes;
  const LayerReport meet = report_of<RowsMeet>(), hidden = report_of<Hidden>();
  CHECK(memory::stats().peak_bytes < before + (size_t{1} << 28));
  CHECK(holds(first_line(meet), "WRONG: batch of 0: y must be [0, 4], got [0, 0]"));
  CHECK(holds(hidden.text(), "the same bits for x ["));
  CHECK_FALSE(holds(hidden.text(), "the same bits for x [13107, 5]"));
}

}  // namespace isobar::unseen_bugs_test
