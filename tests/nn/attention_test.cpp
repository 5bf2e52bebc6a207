// MultiheadAttention with masks, other keys and dropout. Literals: PyTorch 1.13.0 (Debian 12), float64.
#include "../../nn/attention.h"

#include "../../nn/check/check.h"
#include "../../nn/model.h"
#include "../message_of.h"
#include "../same_tensors.h"

namespace isobar::attention_test {

using Doubles = std::vector<double>;

// The numbers ((37 i + 11) mod 29 − 14) / 10 · scale.
Tensor numbers(const Shape& shape, double scale = 1) {
  Doubles values;
  for (int64_t i = 0; i < shape.numel(); ++i)
    values.push_back(static_cast<double>((i * 37 + 11) % 29 - 14) / 10 * scale);
  return tensor(shape, values);
}

MultiheadAttention layer_of(MultiheadAttentionOptions options = {}) {
  MultiheadAttention layer(4, 2, Rng(1), options);
  convert(layer, Dtype::f64);
  assign(layer.in_proj_weight, numbers({12, 4}, 0.5));
  assign(layer.in_proj_bias, numbers({12}, 0.1));
  assign(layer.out_proj.weight, numbers({4, 4}, 0.7));
  assign(layer.out_proj.bias, numbers({4}, 0.2));
  return layer;
}

const Tensor query = numbers({2, 2, 4}), memory = numbers({2, 3, 4}, 1.3);
const Tensor padding = tensor({2, 3}, std::vector<bool>{false, false, true, false, true, true});

TEST_CASE("cross-attention under masks is that of PyTorch") {
  MultiheadAttention layer = layer_of();
  const Tensor hidden = tensor({2, 3}, std::vector<bool>{false, true, false, false, false, false});
  check_values(layer(query, memory, memory, {.key_padding_mask = padding, .attn_mask = hidden}),
               {2.0704849999999997, -0.25363999999999953, 0.83466500000000066, 1.3429700000000007,
                0.98587983962210646, -0.49071598323739274, 0.15498182501876159, 0.22067963327491574,
                -1.0853949999999999, -0.30050499999999991, -0.15405000000000008, -0.58759500000000009,
                -1.0853949999999999, -0.30050499999999991, -0.15405000000000008, -0.58759500000000009},
               1e-14);
  check_values(layer(query, memory, memory, {.attn_mask = numbers({2, 3})}),
               {-1.1532872818402473, -0.11863218697507419, 0.14955796923566436, -0.16225187455359716,
                -0.50757731673669249, -0.36314787121866465, -0.073957787374022532, -0.36476770352938059,
                -0.85378823379613844, 0.69614714749119377, 0.094501881501139834, -1.0871433844889142,
                -0.8518909081257604, 0.70194896439819165, 0.09890538968992979, -1.0841381850183316},
               1e-14);
  check_values(layer(query, memory, memory, {.attn_mask = numbers({4, 2, 3})}),
               {-1.1532872818402473, -0.11863218697507419, 0.14955796923566436, -0.16225187455359716,
                1.3970816350729491, -1.1598047448533177, -0.84412017464446443, -1.1084356044356107,
                -0.8682766988338535, 0.72957931889028627, 0.17585468933703999, -0.95786994021620619,
                -0.86591943628154966, 0.73600998203842427, 0.18105595312618428, -0.95389807578605568},
               1e-14);
}

TEST_CASE("a mask of later positions is causal attention, and a mask that hides nothing is none") {
  MultiheadAttention layer = layer_of(), causal = layer_of({.causal = true});
  const Tensor x = numbers({2, 5, 4}), position = arange(5);
  const Tensor later = reshape(position, {1, 5}) > reshape(position, {5, 1});
  CHECK(difference(layer(x, {.attn_mask = later}), causal(x)) <= 1e-15);
  CHECK(difference(layer(x, {.attn_mask = zeros({5, 5}, Dtype::boolean)}), layer(x)) <= 1e-15);
  CHECK(difference(layer(x, x, x), layer(x)) == 0);
}

TEST_CASE("a mask that is added and padding are one mask with -inf where a key is padding") {
  MultiheadAttention layer = layer_of();
  const Tensor added = numbers({2, 3}), none = full({}, -std::numeric_limits<double>::infinity(), Dtype::f64);
  const Tensor both = layer(query, memory, memory, {.key_padding_mask = padding, .attn_mask = added});
  for (int64_t b = 0; b < 2; ++b) {
    const Tensor one = where(select(padding, 0, b), none, added);
    const Tensor alone = layer(query, memory, memory, {.attn_mask = one});
    CHECK(same_bits(select(both, 0, b), select(alone, 0, b)));
  }
}

TEST_CASE(
    "a query that sees no key gives the bias, with a gradient of 0, and detect_anomaly has nothing to say") {
  MultiheadAttention layer = layer_of();
  const Tensor nothing = tensor({2, 3}, std::vector<bool>{true, true, true, false, false, false});
  const double inf = std::numeric_limits<double>::infinity();
  const Tensor added = where(nothing, full({}, -inf, Dtype::f64), 0);
  const Tensor x = memory.detach().set_trainable();
  for (const Tensor& mask : {nothing, added}) {
    Tape tape({.detect_anomaly = true});
    const Tensor y = layer(query, x, x, {.attn_mask = mask});
    for (int64_t b = 0; b < 2; ++b)
      check_values(select(select(y, 0, b), 0, 0), layer.out_proj.bias.to_vector<double>());
    const Tensor dx = tape.gradient(sum(select(y, 1, 0)), {x})[0];
    CHECK(max(abs(dx)).item() == 0);
  }
}

TEST_CASE("check_layer finds cross-attention under a padding mask right, and with dropout") {
  const auto make = [] { return std::make_unique<MultiheadAttention>(6, 2, Rng(2)); };
  const Rng rng(3);
  const std::vector<Tensor> inputs{
      rng.split("x").normal({2, 3, 6}), rng.split("memory").normal({2, 5, 6}),
      tensor({2, 5}, std::vector<bool>{true, true, true, true, true, true, true, true, false, false})};
  const LayerReport masked = check_layer(make, inputs,
                                         {.call =
                                              [](Module& m, const std::vector<Tensor>& in) {
                                                return dynamic_cast<MultiheadAttention&>(m)(
                                                    in[0], in[1], in[1], {.key_padding_mask = !in[2]});
                                              },
                                          .mask = {{2, 1}}});
  CHECK_MESSAGE(masked.passed(), masked.text());
  const LayerReport dropped = check_layer(
      [] {
        return std::make_unique<MultiheadAttention>(6, 2, Rng(2), MultiheadAttentionOptions{.dropout = 0.3});
      },
      rng.normal({2, 3, 6}));
  CHECK_MESSAGE(dropped.passed(), dropped.text());
}

TEST_CASE("dropout zeroes probabilities in training alone") {
  MultiheadAttention layer = layer_of({.dropout = 0.5}), plain = layer_of();
  const Tensor x = numbers({2, 5, 4});
  {
    Tape tape({.rng = Rng(1)});
    const Tensor first = layer(x), second = layer(x);
    CHECK(difference(first, second) > 0.01);
  }
  CHECK(message_of([&] { layer(x); }) ==
        "attention: in training the key of the dropout comes from the active tape, and there is none; call "
        "eval(model) or open a Tape");
  eval(layer);
  CHECK(same_bits(layer(x), plain(x)));
}

TEST_CASE("a mask of another shape or dtype is refused with the shapes") {
  MultiheadAttention layer = layer_of();
  CHECK(
      message_of([&] {
        layer(query, memory, memory, {.key_padding_mask = numbers({2, 3})});
      }) ==
      "attention: key_padding_mask must be (B, S) = [2, 3] of bool, true where a key is padding, got [2, 3] f64");
  CHECK(message_of([&] {
          layer(query, memory, memory, {.attn_mask = numbers({2, 2, 3})});
        }) ==
        "attention: attn_mask must be (T, S) = [2, 3] or (B · num_heads, T, S) = [4, 2, 3], got [2, 2, 3]");
  CHECK(
      message_of([&] {
        layer(query, memory, memory, {.attn_mask = zeros({2, 3}, Dtype::i64)});
      }) ==
      "attention: attn_mask must be bool, true where a query does not see a key, or f64 to be added, got i64");
  CHECK(
      message_of([&] { layer(query, memory, query); }) ==
      "attention: wanted query (B, T, C) and key and value (B, S, C), got [2, 2, 4], [2, 3, 4] and [2, 2, 4]");
}

}  // namespace isobar::attention_test
