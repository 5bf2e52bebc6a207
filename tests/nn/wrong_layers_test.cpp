// What check_layer says of layers that break something, or that only seem to: the sentence of each check.
// (The causes of wrong gradients: wrong_gradients_test.cpp.)
#include "wrong_layers.h"

#include "../../nn/layer_norm.h"
#include "../sanitizers.h"

namespace isobar::wrong_layers_test {

using namespace wrong_layers;
using wrong_layers::In;

// y = 2x whose backward is `twice`.
template <class Backward>
Tensor doubled(In x, const Backward& twice) {
  return record("doubled", affine(x.detach(), 2, 0), {x}, twice);
}

// Reads dy as if it were contiguous.
Tensor twice_in_order(In dy) {
  Tensor dx = zeros(dy.shape(), dy.dtype());
  dispatch_float("twice_in_order", dy.dtype(), [&]<class T>() {
    for (int64_t i = 0; i < dy.numel(); ++i) raw::write<T>(dx)[i] = 2 * dy.data<T>()[i];
  });
  return dx;
}

Tensor fused_square(In x) {
  return record("square", square(x.detach()), {x}, [x = x.detach()](In dy) { return dy * x * 2; });
}

struct Scale : Module {
  Tensor weight = ones(5).set_trainable();
  int calls = 0;

  Tensor forward(const Tensor& x) override { return x * weight; }
  void fields(Fields& f) override { f("weight", weight); }
};
struct Counts : Scale {
  Tensor forward(const Tensor& x) override { return x * weight * ++calls; }
};
// Divides by a running scale, and then moves it.
struct DividesByItsPast : Scale {
  Tensor scale = ones(5);
  Tensor forward(const Tensor& x) override {
    const Tensor y = x / clone(scale) * weight;
    if (training() && x.size(0) > 0) {
      const NoTape pause;
      scale = scale * 0.9 + sqrt(mean(square(x.detach()), {0})) * 0.1;
    }
    return y;
  }
  void fields(Fields& f) override {
    Scale::fields(f);
    f.buffer("scale", scale);
  }
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
// Another gradient at each step, of one y.
struct GrowingGradient : Module {
  double steps = 0;
  Tensor forward(const Tensor& x) override {
    return doubled(x, [this](In dy) { return dy * ++steps; });
  }
  void fields(Fields&) override {}
};
// The mean of no rows is NaN, and stays.
struct NanAfterEmptyBatch : Module {
  Tensor running_mean = zeros(5);
  Tensor forward(const Tensor& x) override {
    if (training()) {
      const NoTape pause;
      assign(running_mean, running_mean * 0.9 + mean(x.detach(), {0}) * 0.1);
    }
    return training() ? x * 2 : x * 2 - running_mean;
  }
  void fields(Fields& f) override { f.buffer("running_mean", running_mean); }
};
// Changes a buffer and lists none: in place, or by another tensor in its place.
struct ForgetsBuffer : NanAfterEmptyBatch {
  Tensor forward(const Tensor& x) override { return x.size(0) == 0 ? x * 2 : NanAfterEmptyBatch::forward(x); }
  void fields(Fields&) override {}
};
struct ForgetsReplacedBuffer : Scale {
  Tensor calls_seen = zeros(1);
  Tensor forward(const Tensor& x) override {
    const Tensor y = x * weight + calls_seen;
    if (training()) calls_seen = calls_seen + 1;
    return y;
  }
};
// Has a table that fields() need not list, because forward does not change it.
struct ConstantTable : Scale {
  Tensor table = full(5, 3);
  Tensor forward(const Tensor& x) override { return x * weight * cast(table, x.dtype()); }
};
// A weight among the buffers.
struct TrainableBuffer : Scale {
  void fields(Fields& f) override { f.buffer("weight", weight); }
};
// Keeps a scale that it computed from the x of its first call.
struct CachedScale : Module {
  double scale = 0;
  Tensor forward(const Tensor& x) override {
    if (scale == 0 && x.numel() > 0) scale = x.at({0, 0});
    return x * scale;
  }
};
// Keeps what it computed from its weight in the first call.
struct CachedWeight : Scale {
  Tensor table;
  Tensor forward(const Tensor& x) override {
    if (!table.defined() || table.dtype() != x.dtype()) table = exp(weight.detach());
    const Tensor e = table;
    return record("cached", x.detach() * e, {x, weight}, [x = x.detach(), e](In dy) {
      return std::vector{dy * e, dy * x * e};
    });
  }
};
struct KeepsBatchSize : Scale {
  Tensor forward(const Tensor& x) override {
    if (calls == 0) calls = static_cast<int>(x.size(0));
    return x * weight * calls;
  }
};
struct NotTrainable : Scale {
  NotTrainable() { weight.set_trainable(false); }
};
struct FrozenPart : Scale {
  NotTrainable part;
  Tensor scale = ones(1).set_trainable();
  Tensor forward(const Tensor& x) override { return part(x) * scale; }
  void fields(Fields& f) override {
    f("part", part);
    f("scale", scale);
  }
};
struct NullPart : Module {
  std::unique_ptr<Module> part;
  Tensor forward(const Tensor& x) override { return x * 2; }
  void fields(Fields& f) override { f("part", part); }
};
struct FourRows : Module {
  Tensor weight = Rng(3).normal({4, 4}).set_trainable();
  Tensor forward(const Tensor& x) override { return matmul(weight, x); }
  void fields(Fields& f) override { f("weight", weight); }
};

// x (B, T, C) and which times of it count.
const LayerInputs two_rows_of_three(std::vector<Tensor>{
    numbers({2, 3, 2}), tensor({2, 3}, std::vector<bool>{true, false, true, false, true, true})});

TEST_CASE("check_layer says which rule a forward, a backward or fields() breaks") {
  const std::string other = ", for another x [4, 5] after a first call, against a fresh layer";
  check_rows({
      {"writes to x",
       of([](In x, In w) {
         Tensor same = x.detach();
         if (x.dtype() == Dtype::f64 && x.numel() > 0) raw::write<double>(same)[0] = 3;
         return x * w;
       }),
       {"WRONG: inputs untouched: x [0, 0]: wanted ", ", got 3, it was written to; ops return new tensors"}},
      {"writes to dy",
       of([](In x) {
         return doubled(x, [](In dy) {
           Tensor dx = dy;
           if (dx.dtype() == Dtype::f64)
             for (int64_t i = 0; i < dx.numel(); ++i) raw::write<double>(dx)[i] *= 2;
           return dx;
         });
       }),
       {"WRONG", "backward wrote to dy while others could see it"}},
      {"takes dy as contiguous",
       of([](In x) { return doubled(x, twice_in_order); }),
       {"WRONG: strided input: gradient of x [0, 1]: wanted 2, got -14, for dy of stride 0, as sum(y) gives "
        "it"}},
      {"sees the layout of x",
       of([](In x, In w) { return x * w * (x.is_contiguous() ? 1 : 2); }),
       {"WRONG: strided input: y ["}},
      {"counts",
       a<Counts>(),
       {"WRONG: repeated calls: y [", "not even repeated calls are bit-identical",
        "forward is no function of x and the parameters alone"}},
      {"reads what it changes",
       a<DividesByItsPast>(),
       {"WRONG: repeated calls: y [", "(options.stateful is for state that fields() lists)"}},
      {"reads what it changes, on purpose",
       a<DividesByItsPast>(),
       {": right", "all 20 elements", "all 5 elements"},
       numbers({4, 5}),
       {.stateful = true}},
      {"sees what was before",
       of([](In x) { return cumsum(x, 1); }),
       {": right", "y before t does not depend on x from t on, along dimension 1, for each t of 3"},
       numbers({2, 3, 2}),
       {.causal = true}},
      {"sees what comes",
       of([](In x) { return x + flip(cumsum(flip(x, {1}), 1), {1}); }),
       {"WRONG: causal: y [", "for another x from time 1 on; does y see one position too many?"},
       numbers({2, 3, 2}),
       {.causal = true}},
      {"sums what is causal",
       of([](In x) { return sum(x, {1}); }),
       {"WRONG: causal: threw: wanted y with the batch and the times of x [2, 3, 2], got [2, 2]"},
       numbers({2, 3, 2}),
       {.causal = true}},
      {"adds what counts",
       of([](In x, In mask) { return x + sum(where(unsqueeze(mask, -1), x, 0), {1}, true); }, {}),
       {": right", "what is masked does not matter to what counts"},
       two_rows_of_three,
       {.mask = {{1, 0}}}},
      {"a mask that hides nothing",
       of([](In x, In mask) { return x + sum(x, {1}, true) * cast(mask, x.dtype()).numel(); }, {}),
       {"WRONG: mask: threw: options.mask: wanted an example in which input 0 [2, 3, 2] has hidden numbers"},
       std::vector<Tensor>{numbers({2, 3, 2}), tensor({2, 3}, std::vector<bool>(6, true))},
       {.mask = {{1, 0}}}},
      {"a mask of other rows",
       of([](In x, In mask) { return x * sum(mask); }, {}),
       {"WRONG: mask: threw: options.mask: wanted the numbers of an input (B, T) and of the one, (B, T, …)"},
       std::vector<Tensor>{numbers({2, 3, 2}), numbers({3, 3})},
       {.mask = {{1, 0}}}},
      {"two rows of tokens that differ in the first alone",
       of([](In x, In w) { return cast(x, w.dtype()) * sum(w); }),
       {"WRONG: causal: threw: options.causal: wanted an example in which input 0 [2, 4] has hidden numbers"},
       tensor({2, 4}, std::vector<int64_t>{3, 1, 2, 0, 2, 1, 2, 0}),
       {.causal = true}},
      {"pools what counts",
       of([](In x, In mask) { return sum(where(unsqueeze(mask, -1), x, 0), {1}); }, {}),
       {": right", "what is masked does not matter to what counts"},
       two_rows_of_three,
       {.mask = {{1, 0}}}},
      {"adds what does not count",
       of([](In x, In mask) { return x + sum(x, {1}, true) * cast(mask, x.dtype()).numel(); }, {}),
       {"WRONG: mask: y [", "is the mask used before every sum over time?"},
       two_rows_of_three,
       {.mask = {{1, 0}}}},
      {"fields() forgets",
       a<Forgets>(),
       {"WRONG: fields: forward uses a trainable tensor [5] that fields() does not list"}},
      {"lists twice",
       a<ListsTwice>(),
       {"WRONG: fields: threw: fields: weight names two tensors, [5] and [5]"}},
      {"a weight as a buffer",
       a<TrainableBuffer>(),
       {"WRONG: fields: threw: fields: weight [5] of TrainableBuffer is listed as a buffer and is trainable"}},
      {"fields() forgets a buffer",
       a<ForgetsBuffer>(),
       {"WRONG: fields: a forgotten buffer: forward changes a tensor that fields() does not list",
        "list it: f.buffer(\"name\", name). After a call in training, against a fresh layer: y ["}},
      {"fields() forgets a buffer that is replaced",
       a<ForgetsReplacedBuffer>(),
       {"WRONG: fields: a forgotten buffer: "}},
      {"a constant that fields() does not list", a<ConstantTable>(), {": right"}},
      {"not trainable",
       a<NotTrainable>(),
       {"WRONG: fields: weight is listed as a parameter and is not trainable; list it with f.buffer, or"}},
      {"frozen in a part", a<FrozenPart>(), {": right", "part.weight, scale; frozen: part.weight"}},
      {"infinite for one row",
       of([](In x, In w) { return x * w / (x.size(0) - 1.0); }),
       {"WRONG: batch of 1: y [0, 0] is infinite, for x [1, 5]"}},
      {"two rows for one",
       of([](In x, In w) {
         return x.size(0) > 1 ? x * w : concat({x, x}, 0) * w;
       }),
       {"WRONG", "y must be [1, 5], got [2, 5]"}},
      {"wrong for one row",
       of([](In x) { return doubled(x, [](In dy) { return dy * (dy.size(0) == 1 ? 1 : 2); }); }),
       {"WRONG: batch of 1: gradient of x [0, "}},
      {"rows from the 1025th on get no gradient",
       of([](In x) {
         return doubled(x, [](In dy) {
           const int64_t rows = std::min<int64_t>(dy.size(0), 1024);
           return pad(slice(dy * 2, 0, 0, rows), {0, 0, 0, dy.size(0) - rows});
         });
       }),
       {"WRONG: large batch: gradient of x [10", "got 0; this is for 1031 rows, which repeat the example"}},
      {"another shape",
       of([](In x, In w) { return x * w; }),
       {"WRONG: forward: y must be [4, 6], got [4, 5]"},
       numbers({4, 5}),
       {.output_shape = Shape{4, 6}}},
      {"other numbers in f32",
       of([](In x, In w) { return x * w * (x.dtype() == Dtype::f32 ? 1.001 : 1); }),
       {"WRONG: f32 against f64: y ["}},
      {"changes in evaluation",
       a<ChangesInEvaluation>(),
       {"WRONG: train and eval: a call in evaluation changes the state"}},
      {"another gradient each time",
       a<GrowingGradient>(),
       {"WRONG: repeated calls: gradient of x [", "gives other bits: does forward keep state"}},
      {"keeps NaN", a<NanAfterEmptyBatch>(), {"WRONG: batch of 0: running_mean [0] is NaN, for x [0, 5]"}},
      {"a scale of the first x", a<CachedScale>(), {"WRONG: another call: y [", other}},
      {"a table of the first weight", a<CachedWeight>(), {"WRONG: another call: y [", other}},
      {"the size of the first batch",
       a<KeepsBatchSize>(),
       {"WRONG: another call: y [", "for another x [5, 5] after a first call"}},
      {"rows meet",
       of([](In x) { return mean(x, {1}) - mean(x, {1}, true); }),
       {"WRONG: batch of 0: y must be [0, 4], got [0, 0]"}},
      {"a parameter that no forward uses",
       of([](In x, In w, In) { return x * w; }),
       {"WRONG: gradient of w1: forward uses it neither in training nor in"}},
      {"a first parameter that no indices meet",
       of([](In at, In, In w) { return embedding(at, w); }, {ones(5), numbers({7, 3})}),
       {"WRONG: gradient of w0: forward uses it neither in training nor in"},
       Rng(1).integers({4}, 7)},
      {"throws in evaluation",
       of([](bool training, In x, In w) {
         check(training, "refuses_evaluation: wanted training");
         return x * w;
       }),
       {"WRONG", "threw: refuses_evaluation: wanted training"}},
      {"the same mask in every step",
       of([](bool training, In x) { return training ? dropout(x, 0.4, Rng(42)) : x; }),
       {"WRONG: train and eval: in training y is evaluation's times 0 or 1.67, with the same zeros in every "
        "step"}},
      {"no batch, and not told",
       a<FourRows>(),
       {"WRONG", "is dimension 0 of x no batch? Then give options.batch = false"}},
  });
}

TEST_CASE("check_layer names what is detached, in which mode, and what else is right") {
  check_rows({
      {"both",
       of([](bool training, In x, In w, In b) { return x.detach() * w.detach() * (training ? 1 : 0.5) + b; }),
       {"WRONG gradient of x and w0 (right: w1; look where x and w0 meet): x: detached"}},
      {"x",
       of([](bool training, In x, In w) { return x.detach() * w * (training ? 1 : 0.5); }),
       {"WRONG gradient of x (right: w0): detached", "  WRONG    gradient of x, in evaluation"}},
      {"the weight",
       of([](In x, In w) { return x * w.detach(); }),
       {"WRONG gradient of w0", "the gradients of two uses add up"}},
  });
}

TEST_CASE("check_layer passes a right layer, and says what it could not compare") {
  const Tensor ones_with_kink = [] {
    Tensor x = full({4, 5}, 2.5);
    raw::write<float>(x)[0] = 1;
    return x;
  }();
  const LayerMaker at_kink = of([](In x) { return relu(x - 1) * x; });
  // ReLU of each column's sum: every element is near a kink, and the second factor tells its gradient all the
  // same.
  const auto partly = [](double factor) {
    return of([factor](In x) {
      return record("partly", concat({relu(x), square(x + 1)}, 1).detach(), {x}, [=, x = x.detach()](In dy) {
        return where(x > 0, slice(dy, 1, 0, 5), 0) + slice(dy, 1, 5, 10) * (x + 1) * factor;
      });
    });
  };
  const std::string near = "20 of 20 only where y has none: near a kink, as at [0, 0]";
  check_rows({
      {"scale",
       of([](In x, In w) { return x * w; }),
       {": right, ", "  no difference\n", "bit-identical for x [13107, 5]"}},
      {"no composed form", of([](In x) { return fused_square(x); }), {"", "second derivatives: none"}},
      {"composed form",
       of([](In x) { return composed_wanted() ? x * x : fused_square(x); }),
       {": right", "the same values and gradients; second derivatives agree with differences"}},
      {"another composed form",
       of([](In x) { return composed_wanted() ? x * x * x : fused_square(x); }),
       {"WRONG: composed form: y ["}},
      {"kinks", at_kink, {"", "second derivatives: not compared near a kink"}, ones_with_kink},
      {"kinks alone",
       at_kink,
       {"WRONG gradient of x: not compared: each of its 20 elements is near a kink, as [0, 0]"},
       ones({4, 5})},
      {"a kink beside a smooth part", partly(2), {": right", near}, zeros({4, 5})},
      {"a kink beside a wrong smooth part", partly(3), {"WRONG gradient of x", near}, zeros({4, 5})},
      {"in f32",
       of([](In x) {
         const Tensor p = cast(softmax(cast(x.detach(), Dtype::f32)), x.dtype());
         return record("softmax in f32", p * 1.0, {x},
                       [p](In dy) { return p * (dy - sum(p * dy, {-1}, true)); });
       }),
       {": right", "all 20 elements, within 1e-03 of differences; forward rounds to f32"}},
      {"less than the tolerance away in f32",
       of([](In x, In w) { return x * w * (x.dtype() == Dtype::f32 ? 1.000012 : 1); }),
       {": right", "within 2e-05"}},
      // What the rounding of x does to y is allowed in f32.
      {"x of 1000",
       [] { return std::make_unique<LayerNorm>(5); },
       {": right"},
       Rng(1).normal({4, 5}, 1000, 1)},
      {"a parameter for evaluation",
       of([](bool training, In x, In w, In u) { return training ? x * w : x * w + u; }),
       {": right"}},
      // Without NoTape: the square is on the tape twice.
      {"recorded twice",
       of([](In x) {
         return composed_wanted() ? x * x
                                  : record("square", square(x).detach(), {x},
                                           [x = x.detach()](In dy) { return dy * x * 2; });
       }),
       {": right", "y does not depend on the recorded square: compute it under NoTape"}},
      {"half in evaluation",
       of([](bool training, In x, In w) { return x * w * (training ? 1 : 0.5); }),
       {": right", "  ok       gradient of w0, in evaluation  all 5 elements",
        "  training differs from evaluation, has no buffer and draws nothing; is a mask the same in every"}},
      {"a hidden mask",
       of([](bool training, In x) { return sum(training ? dropout(x, 0.4, Rng(42)) : x, {1}); }),
       {"",
        "training differs from evaluation, has no buffer and draws nothing; is a mask the same in every step?"}},
      {"a mask of several strengths",
       of([](bool training, In x) {
         return training ? x * cast(tensor({2, 0, 1.5, 1.25, 1.125}), x.dtype()) : x;
       }),
       {": right", "has no buffer and draws nothing; is a mask the same in every step?"}},
      {"no batch",
       a<FourRows>(),
       {": right", "options.batch is false", "bit-identical for x [4, 5]"},
       numbers({4, 5}),
       {.batch = false}},
      {"a mean of all",
       of([](In x, In w) { return mean(x * w); }),
       {": right", "y [] does not keep the batch, and is NaN without one"}},
      {"turned", of([](In x, In w) { return transpose(x * w); }), {": right", "  y [5, 1]\n"}},
      {"undefined for some numbers",
       of([](In x) { return log(x); }),
       {": right", "for normal numbers; is the layer undefined for some of them?"},
       Rng(3).uniform({4, 5}, 1, 2)},
      {"a batch to order",
       of([](In x, In w) { return x * w; }),
       {": right", "bit-identical for x [20, 5]"},
       numbers({4, 5}),
       {.large = 100}},
  });
}

TEST_CASE("a layer whose rows meet each other is checked with fewer of them, and in little memory") {
  memory::reset_peak();
  const size_t before = memory::stats().peak_bytes;
  const std::string text =
      check_layer(of([](In x) { return sum(tanh(mean(x, {1}) - mean(x, {1}, true)), {1}); }), numbers({4, 5}))
          .text();
  CHECK(memory::stats().peak_bytes < before + (size_t{1} << 28));
#ifndef WITH_ASAN  // under which blocks are a little larger
  // Two matrices of doubles of 1024 rows are 16 MiB.
  CHECK(holds(text, "bit-identical for x [1024, 5]"));
#endif
  CHECK_FALSE(holds(text, "bit-identical for x [13107, 5]"));
}

TEST_CASE("a maker or a layer that fails in any way ends its own report") {
  check_rows({
      {"too few gradients",
       of([](In x, In w) {
         return record("too_few", x.detach() * w.detach(), {x, w},
                       [w = w.detach()](In dy) { return std::vector{dy * w}; });
       }),
       {"too_few"}},
      {"a null layer",
       [] { return std::unique_ptr<Module>(); },
       {"layer on x [4, 5]: WRONG: fields: threw: the maker returned null"}},
      {"no memory for a layer",
       []() -> std::unique_ptr<Module> { throw std::bad_alloc(); },
       {"WRONG: fields: threw: there is not enough memory (std::bad_alloc); does a broadcast of (N) with"}},
      {"a null part", a<NullPart>(), {"fields: the part part is null"}},
      {"no memory in forward",
       of([](In) -> Tensor { throw std::bad_alloc(); }),
       {"WRONG: forward: threw: there is not enough memory (std::bad_alloc)"}},
      {"throws a number",
       of([](In) -> Tensor { throw 3; }),
       {"WRONG: forward: threw something that is no std::exception"}},
  });
}

// y = x whose gradient is −dy.
Tensor reversed(In x) {
  return record("reversed", affine(x.detach(), 1, 0), {x}, [](In dy) { return dy * -1.0; });
}

TEST_CASE("a layer may say which derivative it intends, by options.expected") {
  const auto times = [](double factor) {
    return CheckLayerOptions{
        .expected = [=](Module&, const std::vector<Tensor>& in) { return in[0] * factor; }};
  };
  const LayerMaker reverses = of([](In x) { return reversed(x); });
  const std::string expected = "as expected: not the slope of y, but that of options.expected; all 20";
  check_rows({
      {"not told", reverses, {"WRONG gradient of x"}},
      {"told", reverses, {": right", expected}, numbers({4, 5}), times(-1)},
      {"told another one", reverses, {"WRONG"}, numbers({4, 5}), times(0.5)},
      {"told the slope of y itself",
       of([](In x) { return x * 2; }),
       {"options.expected: all gradients are the slopes of y itself; leave it out"},
       numbers({4, 5}),
       times(2)},
      {"told one of another shape",
       reverses,
       {"options.expected must give [4, 5], as f does, got []"},
       numbers({4, 5}),
       {.expected = [](Module&, const std::vector<Tensor>& in) { return sum(in[0]); }}},
      {"in training alone",
       of([](bool training, In x) { return training ? reversed(x) : x * 2; }),
       {": right"},
       numbers({4, 5}),
       {.expected = [](Module& m,
                       const std::vector<Tensor>& in) { return in[0] * (m.training() ? -1.0 : 2.0); }}},
      {"straight through a sign, and its weight",
       of([](In x, In w) { return record("sign", sign(x.detach()), {x}, [](In dy) { return dy; }) * w; }),
       {": right", expected, "all 5 elements"},
       numbers({4, 5}),
       {.expected =
            [](Module& m, const std::vector<Tensor>& in) {
              return in[0] * dynamic_cast<FunctionLayer&>(m).weights[0];
            }}},
  });
}

}  // namespace isobar::wrong_layers_test
