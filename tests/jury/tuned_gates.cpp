// Wrong gates: one branch multiplies another.
#include "layers.h"

namespace isobar::tuned_gates {
namespace {

Tensor half_of(In x, int which) {
  const int64_t half = x.size(-1) / 2;
  return slice(x, -1, which * half, (which + 1) * half);
}

const bool listed_units = list_tuned({
    by_hand(
        {"gates",
         "GLU: the halves of dx change places",
         {"misplaced", "swapped inputs"},
         {"wrong factor", "lost branch"}},
        {{3, 6}}, {}, [](In x) { return half_of(x, 0) * sigmoid(half_of(x, 1)); },
        [](In dy, In, In x) {
          const Tensor a = half_of(x, 0), gate = sigmoid(half_of(x, 1));
          return concat({dy * a * gate * (1 - gate), dy * gate}, -1);
        }),
    by_hand(
        {"gates", "bilinear: dV from V's own branch", {"wrong factor"}, {"lost branch", "swapped inputs"}},
        {{4, 3}}, {{5, 3}, {5, 3}, {5}},
        [](In x, In w, In v, In bias) { return linear(x, w) * linear(x, v) + bias; },
        [](In dy, In, In x, In w, In v, In) {
          const Tensor a = linear(x, w), b = linear(x, v);
          return std::vector{matmul(dy * b, w) + matmul(dy * a, v), matmul(transpose(dy * b), x),
                             matmul(transpose(dy * b), x), sum(dy, {0})};
        }),
});

const bool listed_cells = list_tuned({
    by_hand(
        {"gates", "LSTM: di without tanh(g)", {"missing factor", "wrong factor"}, {"one-sided"}},
        {{3, 8}, {3, 2}}, {},
        [](In gates, In c) {
          const auto part = split(gates, 2, 1);
          return sigmoid(part[3]) * tanh(sigmoid(part[1]) * c + sigmoid(part[0]) * tanh(part[2]));
        },
        [](In dy, In, In gates, In c) {
          const auto part = split(gates, 2, 1);
          const Tensor i = sigmoid(part[0]), f = sigmoid(part[1]), g = tanh(part[2]), o = sigmoid(part[3]);
          const Tensor cell = tanh(f * c + i * g), dc = dy * o * (1 - square(cell));
          return std::vector{concat({dc * i * (1 - i), dc * c * f * (1 - f), dc * i * (1 - square(g)),
                                     dy * cell * o * (1 - o)},
                                    1),
                             dc * f};
        }),
    by_hand(
        {"gates", "GRU: z and 1 − z exchanged in dz", {"sign"}}, {{4, 3}, {4, 3}, {4, 3}}, {},
        [](In a, In n, In h) { return (1 - sigmoid(a)) * tanh(n) + sigmoid(a) * h; },
        [](In dy, In, In a, In n0, In h) {
          const Tensor z = sigmoid(a), n = tanh(n0);
          return std::vector{dy * (n - h) * z * (1 - z), dy * (1 - z) * (1 - square(n)), dy * z};
        }),
    by_hand(
        {"gates",
         "FiLM: dx = dy γ, without the 1",
         {"dy added"},
         {"missing term", "wrong factor", "lost branch"}},
        {{3, 4, 2}, {3, 1, 2}, {3, 1, 2}}, {}, [](In x, In gamma, In beta) { return x * (1 + gamma) + beta; },
        [](In dy, In, In x, In gamma, In) {
          return std::vector{dy * gamma, sum(dy * x, {1}, true), sum(dy, {1}, true)};
        }),
    by_hand(
        {"gates", "squeeze and excite: x through the gate lost", {"lost branch", "missing term"}},
        {{2, 4, 3}}, {{3, 3}}, [](In x, In w) { return x * sigmoid(linear(mean(x, {1}, true), w)); },
        [](In dy, In, In x, In w) {
          const Tensor squeezed = mean(x, {1}, true), gate = sigmoid(linear(squeezed, w));
          const Tensor dgate = sum(dy * x, {1}, true) * gate * (1 - gate);
          return std::vector{dy * gate, sum(matmul(transpose(dgate), squeezed), {0})};
        }),
    by_hand(
        {"gates", "ReZero: dalpha from x, not from tanh(x)", {"wrong factor"}, {"missing factor"}}, {{4, 3}},
        {normal({}, 0, 1)}, [](In x, In alpha) { return x + alpha * tanh(x); },
        [](In dy, In, In x, In alpha) {
          return std::vector{dy * (1 + alpha * (1 - square(tanh(x)))), sum(dy * x)};
        }),
});

}  // namespace
}  // namespace isobar::tuned_gates
