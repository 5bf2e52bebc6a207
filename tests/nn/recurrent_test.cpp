// LSTM and GRU against literals of PyTorch 1.13.0 (Debian 12), float64.
#include "../../nn/gru.h"
#include "../../nn/lstm.h"

#include "../../autograd/tape.h"
#include "../../nn/model.h"
#include "../message_of.h"
#include "../same_tensors.h"

namespace isobar::recurrent_test {

// The numbers ((37 i + 11) mod 29 − 14) / 10 · scale.
Tensor numbers(const Shape& shape, double scale = 1) {
  std::vector<double> values;
  for (int64_t i = 0; i < shape.numel(); ++i)
    values.push_back(static_cast<double>((i * 37 + 11) % 29 - 14) / 10 * scale);
  return tensor(shape, values);
}

template <class Layer>
void check_layer_values(Layer& layer, const std::vector<double>& y, const std::vector<double>& dx,
                        const std::vector<double>& first_rows) {
  convert(layer, Dtype::f64);
  assign(layer.weight_ih_l0, numbers(layer.weight_ih_l0.shape()));
  assign(layer.weight_hh_l0, numbers(layer.weight_hh_l0.shape(), 0.6));
  assign(layer.bias_ih_l0, numbers(layer.bias_ih_l0.shape(), 0.3));
  assign(layer.bias_hh_l0, numbers(layer.bias_hh_l0.shape(), -0.2));
  const Tensor x = numbers({1, 4, 2}).set_trainable();
  Tape tape;
  const Tensor states = layer(x);
  check_values(states, y, 1e-14);
  tape.backward(sum(states));
  check_values(x.grad(), dx, 1e-13);
  check_values(slice(layer.weight_hh_l0.grad(), 0, 0, 2), first_rows, 1e-13);
}

TEST_CASE("an LSTM has the states and the gradients of PyTorch") {
  LSTM layer(2, 3, Rng(1));
  check_layer_values(
      layer,
      {0.12784775581708169, 0.019157706260422101, -0.23958948850089398, -0.037315279118322123,
       -0.56633028527500739, 0.074476266612974518, 0.23632344406666339, -0.078071307059055642,
       -0.18784722303729517, -0.084620150711106276, -0.0030446730129761158, -0.22867169307130408},
      {0.33179527566720618, -0.065412715523330375, -0.073061317370155615, 0.41491954524041486,
       0.31882299074877168, -0.015381017046926003, 0.14605790668423324, -0.31429697674779655},
      {-0.05441713890533921, -0.10536159075486652, 0.063822576781380175, -0.0014609641690834368,
       -0.0060828816921110048, 0.0080682545020508371});
}

TEST_CASE("a GRU has the states and the gradients of PyTorch") {
  GRU layer(2, 3, Rng(1));
  check_layer_values(layer,
                     {0.13235577822976446, 0.05469952952510751, -0.29006289028297932, -0.45476204624644823,
                      -0.45461149029790543, 0.58504697890968071, 0.36968463185421607, -0.13153511470506851,
                      -0.091080582041677127, 0.23729055651966646, 0.38193780496430346, -0.17309387092636136},
                     {-0.014587492679968029, 0.063145722041878918, 0.52244112003407839, 0.59958584216043675,
                      1.1692062471246585, -0.68711379537233042, -0.47580862837906523, -0.33573394694393577},
                     {-0.02424450826143924, -0.024381813185022812, 0.031174692187635574,
                      -0.039184869842231039, -0.034435814387664902, 0.047221492168356194});
}

TEST_CASE("two halves of a sequence, the second from the last state of the first, are the whole") {
  const Tensor x = Rng(2).normal({3, 6, 2});
  LSTM lstm(2, 4, Rng(1), {.bias = false});
  const Tensor zero = zeros({3, 4});
  const auto [y1, h1, c1] = lstm(slice(x, 1, 0, 2), zero, zero);
  const auto [y2, h2, c2] = lstm(slice(x, 1, 2, 6), h1, c1);
  CHECK(same_bits(concat({y1, y2}, 1), lstm(x)));
  CHECK(same_bits(h2, select(y2, 1, -1)));
  GRU gru(2, 4, Rng(1), {.bias = false});
  const auto [z1, g1] = gru(slice(x, 1, 0, 2), zero);
  const auto [z2, g2] = gru(slice(x, 1, 2, 6), g1);
  CHECK(same_bits(concat({z1, z2}, 1), gru(x)));
  CHECK(message_of([&] {
          gru(zeros({3, 2}));
        }) == "gru: wanted sequences x (N, T, 2) of at least one time, got [3, 2]");
  CHECK(message_of([&] {
          gru(zeros({3, 0, 2}));
        }) == "gru: wanted sequences x (N, T, 2) of at least one time, got [3, 0, 2]");
  CHECK(message_of([&] { gru(x, zeros({3, 3})); }) == "gru: wanted h of [3, 4] for x [3, 6, 2], got [3, 3]");
  CHECK(message_of([&] {
          lstm(x, zero, zeros({2, 4}));
        }) == "lstm: wanted h and c of [3, 4] for x [3, 6, 2], got [3, 4] and [2, 4]");
}

}  // namespace isobar::recurrent_test
