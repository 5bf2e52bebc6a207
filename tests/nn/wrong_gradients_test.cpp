// The cause that check_layer names of a wrong gradient: mistakes as students make them, a few a cause. And right
// layers that are hard to check.
#include <cmath>
#include <numbers>

#include "../../autograd/recompute.h"
#include "../../core/parallel.h"
#include "../../nn/dropout.h"
#include "../../nn/linear.h"
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
// Query t sees the last `length` keys up to its own.
Tensor windowed(In logits, int64_t length) {
  const Tensor s = arange(logits.size(-1)), t = reshape(arange(logits.size(-2)), {logits.size(-2), 1});
  return where(s <= t && t < s + length, logits, -1e30);
}

// x / rms(x), and the reciprocal of that.
struct Row {
  Tensor r, h;
};
Row scaled(In x) {
  const Tensor r = rsqrt(row_mean(square(x)) + 1e-5);
  return {r, x * r};
}

// (V, C) with row dy[n] added at row rows[n].
Tensor scattered(In dy, In rows, In like) {
  return index_add(zeros(like.shape(), like.dtype()), 0, rows, dy);
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

const double gelu_scale = std::sqrt(2 / std::numbers::pi);

// Mistakes of one line. x is (N, C).
std::vector<LayerRow> classics() {
  const Tensor five = numbers({5}, 2);
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
               [](In dy, In, In, In) { return gradients(dy, sum(dy, {1})); }, {five}),
       {"wrong axis"},
       numbers({5, 5})},
      {"dbias of the first row only",
       by_hand([](In x, In b) { return x + b; },
               [](In dy, In, In, In) { return gradients(dy, select(dy, 0, 0)); }, {five}),
       {"not summed"}},
      {"dweight of the last row only",
       by_hand([](In x, In w) { return x * w; },
               [](In dy, In, In x, In w) { return gradients(dy * w, select(dy * x, 0, -1)); }, {five}),
       {"overwritten"}},
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
      {"a weight detached in forward", of([](In x, In w) { return x * w.detach(); }, {five}), {"detached"}},
      {"a backward that returns nothing for x",
       by_hand([](In x) { return x * 2; }, [](In, In, In) { return Tensor(); }),
       {"detached"}},
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
      {"SiLU as if the gate were constant",
       by_hand([](In x) { return silu(x); }, [](In dy, In, In x) { return dy * sigmoid(x); }),
       {"missing term"}},
      {"tanh without its slope", by_hand([](In x) { return tanh(x); }, same_dy), {"missing factor"}},
      {"tanh(α x) without α",
       by_hand([](In x, In a) { return tanh(x * a); },
               [](In dy, In y, In x, In) {
                 const Tensor slope = dy * (1 - square(y));
                 return gradients(slope, reshape(sum(slope * x), {1}));
               },
               {numbers({1}, 2)}),
       {"missing factor"}},
      {"tanh with 1 − x²",
       by_hand([](In x) { return tanh(x); }, [](In dy, In, In x) { return dy * (1 - square(x)); }),
       {"wrong factor"}},
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

// The row on x (N, 1, …) for x (N, …), through reshapes around the layer.
LayerRow with_extent_one(LayerRow row) {
  const auto widened = [](In x) { return unsqueeze(x, 1); };
  row.make = [make = row.make, widened] {
    std::unique_ptr<Module> layer = make();
    FunctionLayer& made = dynamic_cast<FunctionLayer&>(*layer);
    made.function = [f = made.function, widened](bool training, std::vector<Tensor> in) {
      in[0] = squeeze(in[0], 1);
      return widened(f(training, in));
    };
    return layer;
  };
  row.x = LayerInputs(widened(row.x[0]));
  return row;
}
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

TEST_CASE("check_layer sees classic mistakes on examples with an extent of 1, and of forwards in f32") {
  for (const auto& change : {with_extent_one, in_f32}) {
    int named = 0, rows = 0;
    for (const LayerRow& row : classics()) {
      INFO(row.name);
      const LayerReport report = report_of(change(row));
      INFO(report.text());
      CHECK_FALSE(report.passed());
      ++rows;
      named += holds(report.text().substr(0, report.text().find('\n')), row.says[0]);
    }
    CHECK(named * 10 >= 9 * rows);
  }
}

TEST_CASE("check_layer names the cause of a mistake in a larger formula") {
  const Tensor five = numbers({5}, 2);
  check_rows({
      {"softplus whose backward overflows",
       by_hand([](In x) { return relu(x) + log(exp(-(relu(x) + relu(-x))) + 1); },
               [](In dy, In, In x) { return dy * exp(x) / (exp(x) + 1); }),
       {"not finite"},
       Rng(1).normal({3, 5}, 0, 700)},
      {"hard swish: the slope of the middle also beyond 3",
       by_hand([](In x) { return x * clamp(x + 3, 0, 6) / 6.0; },
               [](In dy, In, In x) { return where(x < -3, 0, dy * (2 * x + 3) / 6.0); }),
       {"one-sided"},
       Rng(1).normal({4, 5}, 0, 3)},
      {"GELU: 0.0447 for 0.044715 in dx",
       by_hand([](In x) { return gelu_tanh(x); },
               [](In dy, In, In x) {
                 const Tensor t = tanh(gelu_scale * (x + 0.0447 * pow(x, 3)));
                 const Tensor inner = gelu_scale * (1 + 3 * 0.0447 * square(x));
                 return dy * (0.5 * (1 + t) + 0.5 * x * (1 - square(t)) * inner);
               }),
       {"nearly right"}},
      {"tanh's slope computed in f32",
       by_hand([](In x) { return tanh(x); },
               [](In dy, In, In x) { return dy * cast(1 - square(tanh(cast(x, Dtype::f32))), x.dtype()); }),
       {"nearly right"},
       Rng(1).uniform({4, 5}, -3, 3)},
      {"sigmoid: y (1 + y)",
       by_hand([](In x, In w) { return sigmoid(x * w); },
               [](In dy, In y, In x, In w) {
                 const Tensor d = dy * y * (1 + y);
                 return gradients(d * w, sum(d * x, {0}));
               },
               {five}),
       {"wrong factor"}},
      {"bell curve: dsigma over sigma², not sigma³",
       by_hand([](In x, In sigma) { return exp(square(x / sigma) / -2.0); },
               [](In dy, In y, In x, In sigma) {
                 return gradients(-dy * y * x / square(sigma), sum(dy * y * square(x / sigma), {0}));
               },
               {Rng(2).uniform({5}, 0.5, 2)}),
       {"a factor too many: it is multiplied by w0"}},
      {"BatchNorm with detached statistics",
       by_hand(
           [](In x) {
             const Tensor c = x - mean(x, {0}, true);
             return c / sqrt(mean(square(c), {0}, true) + 1e-5);
           },
           [](In dy, In, In x) { return dy / sqrt(mean(square(x - mean(x, {0}, true)), {0}, true) + 1e-5); }),
       {"missing term"},
       numbers({6, 3})},
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
      {"log-sum-exp: dx = dy exp(x)",
       by_hand([](In x) { return logsumexp(x, {1}); },
               [](In dy, In, In x) { return unsqueeze(dy, 1) * exp(x); }),
       {"a factor too many: it is multiplied by exp(y)"}},
      {"labels from 1: dw one row too far",
       by_hand([](In labels, In w) { return tanh(embedding(labels, w)); },
               [](In dy, In y, In labels, In w) {
                 const Tensor next = where(labels == 4, 0, labels + 1);
                 return gradients(Tensor(), scattered(dy * (1 - square(y)), next, w));
               },
               {numbers({5, 3}, 2)}),
       {"misplaced"},
       Rng(1).integers({6}, 5)},
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
      {"blocks of four: the rest gets no gradient",
       by_hand([](In x) { return square(x); },
               [](In dy, In, In x) {
                 const int64_t whole = x.numel() / 4 * 4;
                 const Tensor all = reshape(dy * x * 2, {x.numel()});
                 return reshape(pad(slice(all, 0, 0, whole), {0, x.numel() - whole}), x.shape());
               }),
       {"cross-talk"},
       numbers({3, 5})},
      {"attention: dk and dv swapped",
       by_hand([](In q, In k, In v) { return matmul(softmax(matmul(q, transpose(k))), v); },
               [](In dy, In, In q, In k, In v) {
                 const Mixed d = mixed_backward(dy, softmax(matmul(q, transpose(k))), v);
                 return gradients(matmul(d.dlogits, k), d.dv, matmul(transpose(d.dlogits), q));
               }),
       {"x[1]: swapped inputs: it gets the gradient of x[2], and x[2] its gradient"},
       std::vector{numbers({2, 3, 4}), numbers({2, 5, 4}, 2), numbers({2, 5, 4}, 3)}},
      {"attention: a window one key longer in backward",
       by_hand([](In q, In k, In v) { return matmul(softmax(windowed(matmul(q, transpose(k)), 2)), v); },
               [](In dy, In, In q, In k, In v) {
                 const Mixed d = mixed_backward(dy, softmax(windowed(matmul(q, transpose(k)), 3)), v);
                 return gradients(matmul(d.dlogits, k), matmul(transpose(d.dlogits), q), d.dv);
               }),
       {"cross-talk: backward links index 2 of dy"},
       std::vector{numbers({2, 4, 4}), numbers({2, 4, 4}, 2), numbers({2, 4, 4}, 3)}},
      {"GRU: h through the reset gate lost",
       by_hand([](In x, In h, In u) { return tanh(x + linear(sigmoid(x) * h, u)) * 0.5 + h * 0.5; },
               [](In dy, In y, In x, In h, In u) {
                 const Tensor r = sigmoid(x), n = (y - h * 0.5) * 2, dn = dy * 0.5 * (1 - square(n));
                 const Tensor drh = matmul(dn, u);
                 return gradients(dn + drh * h * r * (1 - r), dy * 0.5, matmul(transpose(dn), r * h));
               },
               {numbers({3, 3}, 3)}),
       {"missing term"},
       std::vector{numbers({4, 3}), numbers({4, 3}, 2)}},
  });
}

// y = (x − mean of the batch) · weight, and a running mean for evaluation, which is not saved.
struct UnsavedMean : Module {
  Tensor weight = numbers({5}, 2).set_trainable(), running_mean = zeros({5});
  Tensor forward(const Tensor& x) override {
    if (!training()) return (x - cast(running_mean, x.dtype())) * weight;
    const Tensor centre = mean(x, {0});
    if (x.size(0) > 0 && !recomputing()) {
      const NoTape pause;
      running_mean = cast(running_mean, x.dtype()) * 0.9 + centre.detach() * 0.1;
    }
    return (x - centre) * weight;
  }
  void fields(Fields& f) override { f("weight", weight); }
};
// The same, saved: a right layer.
struct RunningMean : Module {
  Tensor weight = numbers({5}, 2).set_trainable(), running_mean = zeros({5});
  Tensor forward(const Tensor& x) override {
    const Tensor centre = training() ? mean(x, {0}) : running_mean;
    if (training() && x.size(0) > 0 && !recomputing()) {
      const NoTape pause;
      assign(running_mean, running_mean * 0.9 + mean(x, {0}) * 0.1);
    }
    return (x - centre) * weight;
  }
  void fields(Fields& f) override {
    f("weight", weight);
    f.buffer("running_mean", running_mean);
  }
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
      {"running mean not in fields", a<UnsavedMean>(), {"WRONG: save and load"}},
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
      {"dw as a mean times the rows: NaN for an empty batch",
       by_hand([](In x, In w) { return x * w; },
               [](In dy, In, In x, In w) {
                 return gradients(dy * w, mean(dy * x, {0}) * static_cast<double>(x.size(0)));
               },
               {numbers({3}, 2)}),
       {"WRONG: batch of 0"},
       numbers({4, 3})},
      {"softmax without the largest logit subtracted",
       of([](In x) { return exp(x) / sum_last(exp(x)); }),
       {"holds NaN or infinity"},
       Rng(1).uniform({4, 5}, 85, 100)},
      {"variance as mean x² − (mean x)²",
       of([](In x, In w) {
         const Tensor m = row_mean(x);
         return (x - m) * rsqrt(row_mean(square(x)) - square(m) + 1e-5) * w;
       }),
       {"WRONG: f32 against f64"},
       Rng(1).normal({4, 5}, 300, 1)},
      {"y is f32 whatever x is", of([](In x, In w) { return cast(x * w, Dtype::f32); }), {"WRONG: forward"}},
  });
}

// y = base(x) + x aᵀ bᵀ; the base is frozen.
struct Lora : Module {
  Linear base{5, 3, Rng(4)};
  Tensor a = numbers({2, 5}, 2).set_trainable(), b = numbers({3, 2}, 3).set_trainable();
  Lora() {
    for (Tensor& frozen : parameters(base)) frozen.set_trainable(false);
  }
  Tensor forward(const Tensor& x) override { return base(x) + linear(linear(x, a), b); }
  void fields(Fields& f) override {
    f("base", base);
    f("a", a);
    f("b", b);
  }
};
// y = x + dropout(x W).
struct DroppedResidual : Module {
  Tensor weight = numbers({5, 5}, 2).set_trainable();
  Dropout dropout{0.3};
  Tensor forward(const Tensor& x) override { return x + dropout(linear(x, weight)); }
  void fields(Fields& f) override {
    f("weight", weight);
    f("dropout", dropout);
  }
};

// (B, S), true for real elements; the first of each row always is.
Tensor some_real(int64_t batch, int64_t length) {
  const Tensor drawn = Rng(5).uniform({batch, length}, 0, 1) > 0.4;
  return drawn || broadcast_to(arange(length) == 0, {batch, length});
}
Tensor over_queries(In mask) { return unsqueeze(mask, 1); }

TEST_CASE("check_layer passes right layers that are hard to check") {
  const Tensor five = numbers({5}, 2);
  check_rows({
      {"LoRA over a frozen Linear", a<Lora>(), {": right"}},
      {"dropout on a residual branch", a<DroppedResidual>(), {": right"}},
      {"running mean", a<RunningMean>(), {": right"}},
      {"Gram matrix (N, N)",
       of([](In x, In w) { return matmul(x * w, transpose(x)); }),
       {": right"},
       numbers({4, 5}),
       {.batch = false}},
      {"cross-attention with a padding mask",
       by_hand(
           [](In x, In memory, In mask) {
             return matmul(softmax(where(over_queries(mask), matmul(x, transpose(memory)), -1e30)), memory);
           },
           [](In dy, In, In x, In memory, In mask) {
             const Tensor p = softmax(where(over_queries(mask), matmul(x, transpose(memory)), -1e30));
             const Mixed d = mixed_backward(dy, p, memory);
             return gradients(matmul(d.dlogits, memory), matmul(transpose(d.dlogits), x) + d.dv, Tensor());
           }),
       {": right"},
       std::vector{numbers({3, 2, 4}), numbers({3, 5, 4}, 2), some_real(3, 5)}},
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
      {"forty layers of tanh",
       of(
           [](In x, In w) {
             Tensor y = x;
             for (int i = 0; i < 40; ++i) y = tanh(matmul(y, w)) * 0.5 + y * 0.5;
             return y;
           },
           {numbers({2, 2}, 2)}),
       {": right"},
       numbers({3, 2})},
      {"adapter whose second weight starts at zero",
       of([](In x, In w, In a, In b) { return linear(x, w) + linear(linear(x, a), b) * 2; },
          {numbers({3, 5}, 2), numbers({2, 5}, 3), zeros({3, 2})}),
       {": right"}},
      {"the two largest of five, times their softmax",
       of([](In x, In w) {
         const Tensor first = argmax(x, 1, true), columns = arange(x.size(1));
         const Tensor second = argmax(where(columns == first, -1e30, x), 1, true);
         const Tensor best = concat({first, second}, 1);
         return gather(x * w, 1, best) * softmax(gather(x, 1, best));
       }),
       {": right"}},
      {"mean over a batch of any size, a scalar",
       of([](In x, In w) { return sum(tanh(x * w)) / static_cast<double>(std::max<int64_t>(1, x.size(0))); }),
       {": right"}},
      {"views of views inside",
       of(
           [](In x, In w) {
             const Tensor odd = permute(reshape(flip(x, {1}), {x.size(0), 3, 2}), {2, 0, 1});
             return transpose(select(odd, 0, 1) * w + select(odd, 0, 0), 0, 1);
           },
           {numbers({3}, 2)}),
       {": right"},
       numbers({4, 6})},
  });
}

}  // namespace isobar::wrong_gradients_test
