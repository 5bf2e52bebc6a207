// Wrong gates: one branch multiplies another.
#include "layers.h"

namespace isobar::counted_gates {
namespace {

const bool listed_units = list_counted({
    by_hand(
        {"gates", "GLU of two inputs: their gradients exchanged", {"swapped inputs"}}, {{4, 3}, {4, 3}}, {},
        [](In a, In b) { return a * sigmoid(b); },
        [](In dy, In, In a, In b) {
          const Tensor gate = sigmoid(b);
          return std::vector{dy * a * gate * (1 - gate), dy * gate};
        }),
    by_hand(
        {"gates", "SwiGLU: silu' = σ + g (1 − σ)", {"missing factor", "wrong factor"}, {"missing term"}},
        {{4, 3}}, {{5, 3}, {5, 3}}, [](In x, In wg, In wu) { return silu(linear(x, wg)) * linear(x, wu); },
        [](In dy, In, In x, In wg, In wu) {
          const Tensor g = linear(x, wg), u = linear(x, wu), s = sigmoid(g);
          const Tensor dg = dy * u * (s + g * (1 - s)), du = dy * g * s;
          return std::vector{matmul(dg, wg) + matmul(du, wu), matmul(transpose(dg), x),
                             matmul(transpose(du), x)};
        }),
    by_hand(
        {"gates", "GeGLU block: x through the values lost", {"lost branch", "missing term"}}, {{4, 3}},
        {{5, 3}, {5, 3}, {5}},
        [](In x, In wg, In wu, In bias) { return sigmoid(linear(x, wg, bias)) * linear(x, wu); },
        [](In dy, In, In x, In wg, In wu, In bias) {
          const Tensor s = sigmoid(linear(x, wg, bias)), u = linear(x, wu), dg = dy * u * s * (1 - s);
          return std::vector{matmul(dg, wg), matmul(transpose(dg), x), matmul(transpose(dy * s), x),
                             sum(dg, {0})};
        }),
    by_hand(
        {"gates", "highway: dg without − x", {"missing term", "lost branch"}, {"wrong factor"}}, {{4, 3}},
        {{3, 3}, {3}},
        [](In x, In w, In bias) {
          const Tensor g = sigmoid(bias);
          return g * linear(x, w) + (1 - g) * x;
        },
        [](In dy, In, In x, In w, In bias) {
          const Tensor g = sigmoid(bias);
          return std::vector{matmul(dy * g, w) + dy * (1 - g), matmul(transpose(dy * g), x),
                             sum(dy * linear(x, w), {0}) * g * (1 - g)};
        }),
    by_hand(
        {"gates",
         "smaller of two: the mask the wrong way round",
         {"one-sided", "swapped inputs"},
         {"wrong factor", "missing factor", "lost branch"}},
        {{4, 3}, {4, 3}}, {{3}}, [](In a, In b, In w) { return where(a < b, a, b) * w; },
        [](In dy, In, In a, In b, In w) {
          return std::vector{where(a < b, 0, dy * w), where(a < b, dy * w, 0), sum(dy * minimum(a, b), {0})};
        }),
    by_hand(
        {"gates",
         "gated residual: dw from y, not from the branch",
         {"wrong factor"},
         {"dy added", "missing term"}},
        {{4, 3}}, {{3}}, [](In x, In w) { return x + w * sigmoid(x); },
        [](In dy, In y, In x, In w) {
          const Tensor s = sigmoid(x);
          return std::vector{dy * (1 + w * s * (1 - s)), sum(dy * y, {0})};
        }),
});

const bool listed_cells = list_counted({
    by_hand(
        {"gates",
         "LSTM: dc without the slope of tanh(c)",
         {"missing factor", "wrong factor"},
         {"lost branch"}},
        {{3, 6}, {3, 2}}, {},
        [](In gates, In c) {
          const auto part = split(gates, 2, 1);
          return sigmoid(part[2]) * tanh(sigmoid(part[1]) * c + (1 - sigmoid(part[1])) * tanh(part[0]));
        },
        [](In dy, In, In gates, In c) {
          const auto part = split(gates, 2, 1);
          const Tensor g = tanh(part[0]), f = sigmoid(part[1]), o = sigmoid(part[2]);
          const Tensor cell = tanh(f * c + (1 - f) * g), dc = dy * o;
          return std::vector{
              concat({dc * (1 - f) * (1 - square(g)), dc * (c - g) * f * (1 - f), dy * cell * o * (1 - o)},
                     1),
              dc * f};
        }),
    by_hand(
        {"gates", "GRU: h through the reset gate lost", {"lost branch", "missing term"}}, {{4, 3}, {4, 3}},
        {{3, 3}}, [](In x, In h, In u) { return tanh(x + linear(sigmoid(x) * h, u)) * 0.5 + h * 0.5; },
        [](In dy, In y, In x, In h, In u) {
          const Tensor r = sigmoid(x), n = (y - h * 0.5) * 2, dn = dy * 0.5 * (1 - square(n));
          const Tensor drh = matmul(dn, u);
          return std::vector{dn + drh * h * r * (1 - r), dy * 0.5, matmul(transpose(dn), r * h)};
        }),
    by_hand(
        {"gates", "FiLM: dgamma as a mean over time", {"1/N", "constant factor"}},
        {{3, 4, 2}, {3, 1, 2}, {3, 1, 2}}, {}, [](In x, In gamma, In beta) { return tanh(x) * gamma + beta; },
        [](In dy, In, In x, In gamma, In) {
          const Tensor t = tanh(x);
          return std::vector{dy * gamma * (1 - square(t)), mean(dy * t, {1}, true), sum(dy, {1}, true)};
        }),
    by_hand(
        {"gates", "mixture: experts' gradients without their weight", {"missing factor"}, {"wrong factor"}},
        {{4, 3}}, {{2, 3}, {5, 3}, {5, 3}},
        [](In x, In gate, In a, In b) {
          const Tensor p = softmax(linear(x, gate));
          return slice(p, 1, 0, 1) * linear(x, a) + slice(p, 1, 1, 2) * linear(x, b);
        },
        [](In dy, In, In x, In gate, In a, In b) {
          const Tensor p = softmax(linear(x, gate)), p0 = slice(p, 1, 0, 1), p1 = slice(p, 1, 1, 2);
          const Tensor dp = concat({sum(dy * linear(x, a), {1}, true), sum(dy * linear(x, b), {1}, true)}, 1);
          const Tensor dlogits = p * (dp - sum(dp * p, {1}, true));
          return std::vector{matmul(dlogits, gate) + matmul(dy * p0, a) + matmul(dy * p1, b),
                             matmul(transpose(dlogits), x), matmul(transpose(dy), x),
                             matmul(transpose(dy), x)};
        }),
    by_hand(
        {"gates",
         "squeeze and excite: the mean's 1/T missing in the gate's path",
         {"1/N", "constant factor"},
         {"missing term", "lost branch", "missing factor"}},
        {{2, 4, 3}}, {{3}}, [](In x, In w) { return x * sigmoid(mean(x, {1}, true) * w); },
        [](In dy, In, In x, In w) {
          const Tensor squeezed = mean(x, {1}, true), gate = sigmoid(squeezed * w);
          const Tensor dgate = sum(dy * x, {1}, true) * gate * (1 - gate);
          return std::vector{dy * gate + dgate * w, sum(dgate * squeezed, {0, 1})};
        }),
    by_hand(
        {"gates", "LayerScale: dx without the residual's dy", {"dy added", "lost branch"}, {"missing term"}},
        {{4, 3}}, {{3, 3}, {3}}, [](In x, In w, In scale) { return x + scale * tanh(linear(x, w)); },
        [](In dy, In, In x, In w, In scale) {
          const Tensor t = tanh(linear(x, w)), dt = dy * scale * (1 - square(t));
          return std::vector{matmul(dt, w), matmul(transpose(dt), x), sum(dy * t, {0})};
        }),
});

}  // namespace
}  // namespace isobar::counted_gates
