// The cause that check_layer names of a wrong gradient: mistakes as students make them, a few a cause. And right
// layers that are hard to check.
#include "../../core/parallel.h"
#include "../../nn/model.h"
#include "wrong_layers.h"

namespace isobar::wrong_gradients_test {

using namespace wrong_layers;
using wrong_layers::In;

Tensor same_dy(In dy, In, In) { return dy; }
Tensor above(In x, double threshold) { return where(x > threshold, ones(x.shape(), x.dtype()), 0); }
Tensor sum_last(In x) { return sum(x, {-1}, true); }
Tensor row_mean(In x) { return mean(x, {-1}, true); }

// The gradients of softmax(logits) v by the logits and by v.
struct Mixed {
  Tensor dlogits, dv;
};
Mixed mixed_backward(In dy, In p, In v) {
  const Tensor dp = matmul(dy, transpose(v));
  return {p * (dp - sum_last(dp * p)), matmul(transpose(p), dy)};
}

// x / rms(x), and the reciprocal of that.
struct Row {
  Tensor r, h;
};
Row scaled(In x) {
  const Tensor r = rsqrt(row_mean(square(x)) + 1e-5);
  return {r, x * r};
}

// The sum of dy · x over the batch in one part for each thread.
Tensor sum_by_threads(In dy, In x) {
  const int64_t n = x.size(0), parts = std::max<int64_t>(1, std::min<int64_t>(threads(), n));
  const int64_t rows = (n + parts - 1) / parts;
  Tensor total = zeros({x.size(1)}, x.dtype());
  for (int64_t begin = 0; begin < n; begin += rows) {
    const int64_t end = std::min(n, begin + rows);
    total = total + sum(slice(dy, 0, begin, end) * slice(x, 0, begin, end), {0});
  }
  return total;
}

// Mistakes of one line. x is (N, C).
std::vector<LayerRow> classics() {
  return {
      {"square without its 2",
       by_hand([](In x) { return square(x); }, [](In dy, In, In x) { return dy * x; }),
       {"off by a factor of 0.5 everywhere"}},
      {"mean without 1/N in the backward",
       by_hand([](In x) { return mean(x, {1}); },
               [](In dy, In, In x) { return broadcast_to(unsqueeze(dy, 1), x.shape()); }),
       {"1/N"}},
      {"a − x with the gradient of a + x", by_hand([](In x) { return 1 - x; }, same_dy), {"sign"}},
      {"dx = dy Wᵀ for y = x Wᵀ",
       by_hand([](In x, In w) { return linear(x, w); },
               [](In dy, In, In x, In w) {
                 return gradients(matmul(dy, transpose(w)), matmul(transpose(dy), x));
               },
               {numbers({5, 5}, 2)}),
       {"transposed"}},
      {"dbias summed over the channels of a square batch",
       by_hand([](In x, In b) { return x + b; },
               [](In dy, In, In, In) { return gradients(dy, sum(dy, {1})); }, {numbers({5}, 2)}),
       {"wrong axis"},
       numbers({5, 5})},
      {"y = Σ x with a gradient of y's shape",
       by_hand([](In x) { return sum(x, {1}); }, same_dy),
       {"the gradient of input 0 must be [4, 5], got [4]; spread it over the input with broadcast_to()"}},
      {"a roll whose backward rolls on",
       by_hand(
           [](In x) {
             return concat({slice(x, 1, 4, 5), slice(x, 1, 0, 4)}, 1);
           },
           [](In dy, In, In) {
             return concat({slice(dy, 1, 4, 5), slice(dy, 1, 0, 4)}, 1);
           }),
       {"transposed"}},
      {"x + f(x) with the gradient of f only",
       by_hand([](In x) { return x + softmax(x); },
               [](In dy, In, In x) {
                 const Tensor p = softmax(x);
                 return p * (dy - sum_last(p * dy));
               }),
       {"dy added: "}},
      {"x + f(x) with the residual twice",
       by_hand([](In x) { return x + tanh(x); }, [](In dy, In, In x) { return dy * (3 - square(tanh(x))); }),
       {"dy added: right but for 1 · dy too much; is a residual added twice?"}},
      {"a gradient without dy",
       by_hand([](In x) { return square(x); }, [](In, In, In x) { return x * 2; }),
       {"dy is ignored"}},
      {"dy squared",
       by_hand([](In x) { return tanh(x); }, [](In dy, In y, In) { return dy * dy * (1 - square(y)); }),
       {"not linear in dy"}},
      {"a pool of overlapping windows adds nothing where two of them meet",
       by_hand([](In x) { return maximum(slice(x, 1, 0, 4), slice(x, 1, 1, 5)); },
               [](In dy, In, In x) {
                 const Tensor first = slice(x, 1, 0, 4) >= slice(x, 1, 1, 5), none = slice(x, 1, 0, 1) * 0;
                 const Tensor a = concat({where(first, dy, 0), none}, 1),
                              b = concat({none, where(first, 0, dy)}, 1);
                 return where(a != 0, a, b);
               }),
       {"not linear in dy"}},
      {"softmax without the sum",
       by_hand([](In x) { return softmax(x); }, [](In dy, In y, In) { return dy * y; }),
       {"missing term"}},
      {"a factor captured by reference, which has ended",
       by_hand([](In x) { return x * 3; }, [](In dy, In, In) { return dy * 6.9e-310; }),
       {"wrong factor"}},
      {"leaky ReLU that leaks nothing back",
       by_hand([](In x) { return relu(x) - relu(-x) * 0.1; },
               [](In dy, In, In x) { return dy * above(x, 0); }),
       {"one-sided"}},
      {"ReLU with its mask inverted",
       by_hand([](In x) { return relu(x); }, [](In dy, In, In x) { return dy * (1 - above(x, 0)); }),
       {"one-sided"}},
  };
}

TEST_CASE("check_layer names the cause of a classic mistake") { check_rows(classics()); }

// The row with all that it computes in f32: in f64 its forward is a staircase.
LayerRow in_f32(LayerRow row) {
  row.make = [make = row.make] {
    std::unique_ptr<Module> layer = make();
    FunctionLayer& made = dynamic_cast<FunctionLayer&>(*layer);
    made.function = [f = made.function](bool training, std::vector<Tensor> in) {
      const Dtype dtype = in[0].dtype();
      for (Tensor& x : in) x = cast(x, Dtype::f32);
      return cast(f(training, in), dtype);
    };
    return layer;
  };
  return row;
}

TEST_CASE("check_layer sees classic mistakes of forwards in f32") {
  int named = 0, rows = 0;
  for (const LayerRow& row : classics()) {
    INFO(row.name);
    const LayerReport report = report_of(in_f32(row));
    INFO(report.text());
    CHECK_FALSE(report.passed());
    ++rows;
    named += holds(report.text().substr(0, report.text().find('\n')), row.says[0]);
  }
  CHECK(named + 2 >= rows);  // some causes take more digits than f32 has
}

TEST_CASE("check_layer names the cause of a mistake in a larger formula") {
  check_rows({
      {"softplus whose backward overflows",
       by_hand([](In x) { return relu(x) + log(exp(-(relu(x) + relu(-x))) + 1); },
               [](In dy, In, In x) { return dy * exp(x) / (exp(x) + 1); }),
       {"not finite"},
       Rng(1).normal({3, 5}, 0, 700)},
      {"tanh's slope computed in f32",
       by_hand([](In x) { return tanh(x); },
               [](In dy, In, In x) { return dy * cast(1 - square(tanh(cast(x, Dtype::f32))), x.dtype()); }),
       {"nearly right"},
       Rng(1).uniform({4, 5}, -3, 3)},
      {"normalized queries and keys: dk with the query's r",
       by_hand([](In q, In k) { return sum(scaled(q).h * scaled(k).h, {1}, true); },
               [](In dy, In, In q, In k) {
                 const Row a = scaled(q), b = scaled(k);
                 const auto dx = [&](In r, const Row& row, In dh) {
                   return r * (dh - row.h * row_mean(dh * row.h));
                 };
                 return gradients(dx(a.r, a, dy * b.h), dx(a.r, b, dy * a.h));
               }),
       {"row factor"},
       std::vector{numbers({4, 6}), numbers({4, 6}, 2)}},
      {"a window one longer in backward",
       by_hand(
           [](In x) {
             return x + pad(slice(x, 1, 0, 4), {1, 0});
           },
           [](In dy, In, In) {
             return dy + pad(slice(dy, 1, 1, 5), {0, 1}) + pad(slice(dy, 1, 2, 5), {0, 2});
           }),
       {"cross-talk: backward links index 2 of dy with index 0 of x"}},
      {"log-sum-exp: dx = dy exp(x)",
       by_hand([](In x) { return logsumexp(x, {1}); },
               [](In dy, In, In x) { return unsqueeze(dy, 1) * exp(x); }),
       {"a factor too many: it is multiplied by exp(y)"}},
      {"permuted once more instead of back",
       by_hand(
           [](In x) {
             return permute(x, {0, 2, 1}) * 2;
           },
           [](In dy, In, In) {
             return permute(dy, {1, 2, 0}) * 2;
           }),
       {"the gradient of input 0 must be [2, 3, 4], got [4, 3, 2]; is it transposed?"},
       numbers({2, 3, 4})},
      {"attention: dk and dv swapped",
       by_hand([](In q, In k, In v) { return matmul(softmax(matmul(q, transpose(k))), v); },
               [](In dy, In, In q, In k, In v) {
                 const Mixed d = mixed_backward(dy, softmax(matmul(q, transpose(k))), v);
                 return gradients(matmul(d.dlogits, k), d.dv, matmul(transpose(d.dlogits), q));
               }),
       {"x[1]: swapped inputs: it gets the gradient of x[2], and x[2] its gradient"},
       std::vector{numbers({2, 3, 4}), numbers({2, 5, 4}, 2), numbers({2, 5, 4}, 3)}},
  });
}

// y = (x − mean of the batch) · weight, and a running mean for evaluation, which is not saved.
struct UnsavedMean : Module {
  Tensor weight = numbers({5}, 2).set_trainable(), running_mean = zeros({5});
  Tensor forward(const Tensor& x) override {
    if (!training()) return (x - cast(running_mean, x.dtype())) * weight;
    const Tensor centre = mean(x, {0});
    if (x.size(0) > 0) {
      const NoTape pause;
      running_mean = cast(running_mean, x.dtype()) * 0.9 + centre.detach() * 0.1;
    }
    return (x - centre) * weight;
  }
  void fields(Fields& f) override { f("weight", weight); }
};
// Forward divides its weight by the weight's length, for good.
struct NormalizedInForward : Module {
  Tensor weight = numbers({4, 5}, 2).set_trainable();
  Tensor forward(const Tensor& x) override {
    {
      const NoTape pause;
      assign(weight, weight / norm(weight, 2, {1}, true));
    }
    return linear(x, weight);
  }
  void fields(Fields& f) override { f("weight", weight); }
};
// Backward reads x from the layer, where the next call has put its own.
struct KeptActivation : Module {
  Tensor weight = numbers({5}, 2).set_trainable(), kept;
  Tensor forward(const Tensor& x) override {
    if (composed_wanted()) return tanh(x) * weight;
    kept = x.detach();
    return record("kept", (tanh(kept) * weight.detach()).detach(), {x, weight},
                  [this, w = weight.detach()](In dy) {
                    const Tensor t = tanh(kept);
                    return gradients(dy * w * (1 - square(t)), sum(dy * t, {0}));
                  });
  }
  void fields(Fields& f) override { f("weight", weight); }
};

TEST_CASE("check_layer names the check that a mistake in state, extents or precision fails") {
  check_rows({
      {"running mean not in fields",
       a<UnsavedMean>(),
       {"WRONG: fields: a forgotten buffer", "WRONG    save and load"}},
      {"weight normalized in place in forward", a<NormalizedInForward>(), {"WRONG: inputs untouched"}},
      {"backward reads x of the last call",
       a<KeptActivation>(),
       {"overwritten instead of accumulated: after two calls"}},
      {"dw summed in one part for each thread",
       by_hand([](In x, In w) { return x * w; },
               [](In dy, In, In x, In w) { return gradients(dy * w, sum_by_threads(dy, x)); },
               {numbers({9}, 2)}),
       {"WRONG: 1, 2, 8 threads"},
       numbers({4, 9})},
      {"few rows are rounded in another way than many",
       of([](In x, In w) { return x.size(0) < 4 ? x * (w / 3.0) : x * w / 3.0; }),
       {"WRONG: each row alone: row 0 of 67: y [0, ", "so that training and decoding differ"}},
      {"y is f32 whatever x is", of([](In x, In w) { return cast(x * w, Dtype::f32); }), {"WRONG: forward"}},
  });
}

TEST_CASE("check_layer passes right layers that are hard to check") {
  check_rows({
      {"attention that sees one key alone: dq and dk are 0",
       by_hand([](In q, In k, In v) { return matmul(softmax(matmul(q, transpose(k))), v); },
               [](In dy, In, In q, In k, In v) {
                 const Mixed d = mixed_backward(dy, softmax(matmul(q, transpose(k))), v);
                 return gradients(matmul(d.dlogits, k), matmul(transpose(d.dlogits), q), d.dv);
               }),
       {": right"},
       std::vector{numbers({2, 3, 4}), numbers({2, 1, 4}, 2), numbers({2, 1, 4}, 3)}},
      {"saturated softmax: logits of 1000",
       of([](In x, In w) { return softmax(x) * w; }),
       {": right"},
       Rng(2).normal({3, 5}, 0, 1000)},
      {"cross entropy of logits of 50, targets nearly certain",
       of([](In x, In targets) { return cross_entropy(x, targets); }, {}),
       {": right"},
       std::vector{Rng(1).normal({4, 6}, 0, 50), Rng(2).integers({4}, 6)}},
      {"batch norm of equal rows, eps 0.01",
       of([](In x, In w, In b) { return batch_norm(x, w, b, 1e-2); }),
       {": right"},
       full({4, 5}, 2)},
      {"layer norm of equal rows, eps 0.01",
       of([](In x, In w, In b) { return layer_norm(x, 5, w, b, 1e-2); }),
       {": right"},
       full({3, 5}, 1.5)},
      {"rms norm of numbers of 1e-8",
       of([](In x, In w) { return rms_norm(x, 5, w, 1e-5); }),
       {": right"},
       Rng(1).normal({4, 5}, 0, 1e-8)},
      {"y of 1e-8", of([](In x, In w) { return tanh(x) * w * 1e-8; }), {": right"}},
      {"numbers of 1e6, a root and a logarithm",
       of([](In x, In w) { return sqrt(x) * w + log(x); }),
       {": right"},
       Rng(1).uniform({4, 5}, 1e6, 3e6)},
      {"sum of a centred batch: the true gradient is zero",
       of([](In x, In w) { return sum(x - mean(x, {0}, true), {0}, true) + x * 0.0 + w; }),
       {": right"}},
  });
}

}  // namespace isobar::wrong_gradients_test
