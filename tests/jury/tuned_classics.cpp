// Classic mistakes of one line in a hand-written backward. x is (N, C).

#include "../../core/raw.h"
#include "layers.h"

namespace isobar::tuned_classics {

// A row of one input: y = value(x), dx = backward(dy, y, x).
template <class Value, class Backward>
JuryLayer classic(const std::string &name, const std::string &cause, const Draw &x, const Value &value,
                  const Backward &backward) {
  return by_hand({"classics", name, {cause}}, {x}, {}, value, backward);
}

Tensor above(In x, double threshold) { return where(x > threshold, ones(x.shape(), x.dtype()), 0); }
Tensor same_dy(In dy, In, In) { return dy; }

const bool listed = list_tuned({
    classic(
        "square without its 2", "constant factor", {3, 5}, [](In x) { return square(x); },
        [](In dy, In, In x) { return dy * x; }),
    classic(
        "mean without 1/N in the backward", "1/N", {3, 5}, [](In x) { return mean(x, {1}); },
        [](In dy, In, In x) {
          return broadcast_to(reshape(dy, {dy.size(0), 1}), x.shape());
        }),
    classic(
        "a − x with the gradient of a + x", "sign", {3, 5}, [](In x) { return 1 - x; }, same_dy),
    by_hand(
        {"classics", "dx = dy Wᵀ for y = x Wᵀ", {"transposed"}}, {{4, 5}}, {{5, 5}},
        [](In x, In w) { return linear(x, w); },
        [](In dy, In, In x, In w) {
          return std::vector{matmul(dy, transpose(w)), matmul(transpose(dy), x)};
        }),
    by_hand(
        {"classics", "dbias summed over the channels of a square batch", {"wrong axis"}}, {{5, 5}}, {{5}},
        [](In x, In b) { return x + b; },
        [](In dy, In, In, In) {
          return std::vector{dy, sum(dy, {1})};
        }),
    by_hand(
        {"classics", "dbias of the first row only", {"not summed"}}, {{4, 5}}, {{5}},
        [](In x, In b) { return x + b; },
        [](In dy, In, In, In) {
          return std::vector{dy, reshape(slice(dy, 0, 0, 1), {5})};
        }),
    by_hand(
        {"classics", "dweight of the last row only", {"overwritten"}}, {{4, 5}}, {{5}},
        [](In x, In w) { return x * w; },
        [](In dy, In, In x, In w) {
          return std::vector{dy * w, reshape(slice(dy * x, 0, x.size(0) - 1, x.size(0)), {5})};
        }),
    classic(
        "y = Σ x with a gradient of y's shape", "wrong shape", {3, 5}, [](In x) { return sum(x, {1}); },
        same_dy),
    classic(
        "a roll whose backward rolls on", "transposed", {3, 5},
        [](In x) {
          return concat({slice(x, 1, 4, 5), slice(x, 1, 0, 4)}, 1);
        },
        [](In dy, In, In) {
          return concat({slice(dy, 1, 4, 5), slice(dy, 1, 0, 4)}, 1);
        }),
    classic(
        "x + f(x) with the gradient of f only", "dy added", {3, 5}, [](In x) { return x + softmax(x); },
        [](In dy, In, In x) {
          const Tensor p = softmax(x);
          return p * (dy - sum(p * dy, {-1}, true));
        }),
    layer({"classics", "a weight detached in forward", {"detached"}}, {{3, 5}}, {{5}},
          [](In x, In w) { return x * w.detach(); }),
    classic(
        "a backward that returns nothing for x", "detached", {3, 5}, [](In x) { return x * 2; },
        [](In, In, In) { return Tensor(); }),
    classic(
        "a gradient without dy", "dy ignored", {3, 5}, [](In x) { return square(x); },
        [](In, In, In x) { return x * 2; }),
    classic(
        "dy squared", "not linear in dy", {3, 5}, [](In x) { return tanh(x); },
        [](In dy, In y, In) { return dy * dy * (1 - square(y)); }),
    // Adds nothing where two windows meet.
    classic(
        "a pool of overlapping windows, the first of two counts", "not linear in dy", {3, 5},
        [](In x) { return maximum(slice(x, 1, 0, 4), slice(x, 1, 1, 5)); },
        [](In dy, In, In x) {
          const Tensor first = slice(x, 1, 0, 4) >= slice(x, 1, 1, 5), none = slice(x, 1, 0, 1) * 0;
          const Tensor a = concat({where(first, dy, 0), none}, 1), b = concat({none, where(first, 0, dy)}, 1);
          return where(a != 0, a, b);
        }),
    classic(
        "softmax without the sum", "missing term", {3, 5}, [](In x) { return softmax(x); },
        [](In dy, In y, In) { return dy * y; }),
    classic(
        "SiLU as if the gate were constant", "missing term", {3, 5}, [](In x) { return silu(x); },
        [](In dy, In, In x) { return dy * sigmoid(x); }),
    classic(
        "BatchNorm with detached statistics", "missing term", {6, 3},
        [](In x) {
          const Tensor c = x - mean(x, {0}, true);
          return c / sqrt(mean(square(c), {0}, true) + 1e-5);
        },
        [](In dy, In, In x) { return dy / sqrt(mean(square(x - mean(x, {0}, true)), {0}, true) + 1e-5); }),
    classic(
        "tanh without its slope", "missing factor", {3, 5}, [](In x) { return tanh(x); }, same_dy),
    by_hand(
        {"classics", "tanh(α x) without α", {"missing factor"}}, {{3, 5}}, {{1}},
        [](In x, In a) { return tanh(x * a); },
        [](In dy, In y, In x, In) {
          const Tensor slope = dy * (1 - square(y));
          return std::vector{slope, reshape(sum(slope * x), {1})};
        }),
    classic(
        "ReLU without its mask, with an extent of 1", "missing factor", {4, 1, 5},
        [](In x) { return relu(x); }, same_dy),
    classic(
        "tanh with 1 − x², with an extent of 1", "wrong factor", {4, 1, 5}, [](In x) { return tanh(x); },
        [](In dy, In, In x) { return dy * (1 - square(x)); }),
    classic(
        "a factor captured by reference, which has ended", "wrong factor", {3, 5}, [](In x) { return x * 3; },
        [](In dy, In, In) { return dy * 6.9e-310; }),
    classic(
        "leaky ReLU that leaks nothing back", "one-sided", {4, 6},
        [](In x) { return relu(x) - relu(-x) * 0.1; }, [](In dy, In, In x) { return dy * above(x, 0); }),
    classic(
        "ReLU with its mask inverted", "one-sided", {3, 5}, [](In x) { return relu(x); },
        [](In dy, In, In x) { return dy * (1 - above(x, 0)); }),
    classic(
        "softplus whose backward overflows", "not finite", normal({3, 5}, 0, 700),
        [](In x) { return relu(x) + log(exp(-(relu(x) + relu(-x))) + 1); },
        [](In dy, In, In x) { return dy * exp(x) / (exp(x) + 1); }),
});

}  // namespace isobar::tuned_classics
