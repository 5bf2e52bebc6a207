// Softmax, log_softmax and attention where logits are large or −∞.
#include "op_edges.h"

namespace isobar::softmax_test {

Tensor floats(const Shape& shape, const std::vector<double>& values, Dtype dtype = Dtype::f32) {
  return cast(tensor(shape, values), dtype);
}

double largest(const std::vector<double>& values) {
  double most = 0;
  for (const double v : values) most = std::max(most, std::abs(v));
  return most;
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  REQUIRE(a.size() == b.size());
  double apart = 0;
  for (size_t i = 0; i < a.size(); ++i) apart = std::max(apart, std::abs(a[i] - b[i]));
  return apart / largest(b);
}

// Multiples of 1/8 in −2 … 2: their products and sums are exact in f32.
Tensor eighths(const Shape& shape, const char* name) {
  return affine(cast(Rng(3).split(name).integers(shape, 33), Dtype::f32), 0.125, -2);
}

// out, dq, dk, dv; k and q without their last channel, which shifts the logits.
std::vector<std::vector<double>> attention_of(const Tensor& q_in, const Tensor& k_in, const Tensor& v_in,
                                              int64_t channels, TapeOptions options = {}) {
  const Tensor q = q_in.detach().set_trainable(), k = k_in.detach().set_trainable();
  const Tensor v = v_in.detach().set_trainable();
  Tape tape(options);
  const Tensor out = attention(q, k, v, {.scale = 0.25});
  const auto grads = tape.gradient(out, {q, k, v}, Rng(4).normal(out.shape()));
  const auto kept = [&](const Tensor& x) { return slice(x, -1, 0, channels).to_vector<double>(); };
  return {kept(out), kept(grads[0]), kept(grads[1]), kept(grads[2])};
}

TEST_CASE("log_softmax sees no offset that its logits can carry, and its gradient's rows sum to zero") {
  const Tensor base = eighths({5, 33}, "logits"), dy = Rng(2).normal({5, 33});
  const auto run = [&](double offset) {
    const Tensor x = (base + offset).detach().set_trainable();
    Tape tape;
    const Tensor y = log_softmax(x);
    return std::vector{y, tape.gradient(y, {x}, dy)[0]};
  };
  const auto at_zero = run(0);
  for (const double offset : {1e3, 1e5, 1e6, -1e6}) {  // multiples of 1/8 are exact in f32 up to 2²¹
    CAPTURE(offset);
    const auto shifted = run(offset);
    for (size_t i = 0; i < 2; ++i) CHECK(shifted[i].to_vector<double>() == at_zero[i].to_vector<double>());
    // 33 numbers of at most 10, each rounded at 6e-8.
    for (const double total : sum(cast(shifted[1], Dtype::f64), {1}).to_vector<double>())
      CHECK(std::abs(total) <= 33 * 10 * 6e-8);
  }
}

// Query t's logits are all moved by a number of its own, which leaves the softmax as it was: q's last channel
// holds that number, k's last channel ones, v's last channel nothing.
TEST_CASE("attention does not see an offset of a query's logits, however large") {
  const int64_t t = 70, channels = 7;
  const Shape wide{2, t, 4, channels}, narrow{2, t, 2, channels};
  const auto with = [](const Tensor& x, const Tensor& channel) { return concat({x, channel}, -1); };
  const auto one_channel = [](const Shape& s) { return s.with(-1, 1); };
  const Tensor q = eighths(wide, "q"), k = eighths(narrow, "k"), v = Rng(5).normal(narrow);
  const Tensor offsets = cast(Rng(6).integers(one_channel(wide), 8001), Dtype::f32) - 4000;  // · scale: ±1000
  const Tensor zero_q = zeros(one_channel(wide)), ones_k = ones(one_channel(narrow));
  const Tensor v_wide = with(v, zeros(one_channel(narrow)));
  const auto plain = attention_of(with(q, zero_q), with(k, ones_k), v_wide, channels);
  const auto moved = attention_of(with(q, offsets), with(k, ones_k), v_wide, channels);
  const auto composed =
      attention_of(with(q, offsets), with(k, ones_k), v_wide, channels, {.higher_order = true});
  for (size_t i = 0; i < plain.size(); ++i) {
    CAPTURE(i);
    CHECK(distance(moved[i], plain[i]) <= 1e-6);  // the logits are exact: what differs is nothing but sums
    CHECK(distance(moved[i], composed[i]) <= 3e-6);
  }
}

TEST_CASE("attention gives NaN for a query whose logits are all −∞, and for no other one") {
  // The head's first key lets query 0 see −∞ alone; query 1 sees a second key too.
  const Tensor q = floats({1, 2, 1, 1}, {1, 1}), k = floats({1, 2, 1, 1}, {-inf, 3});
  const Tensor v = floats({1, 2, 1, 1}, {5, 7});
  const std::vector<double> out = attention(q, k, v, {.causal = true}).to_vector<double>();
  CHECK(std::isnan(out[0]));
  CHECK(out[1] == 7);
}

TEST_CASE("softmax gives weight zero to minus infinity and NaN to a row with plus infinity") {
  for_both_dtypes([](Dtype dtype) {
    check_values(softmax(row({-inf, 0, 0, -inf}, dtype)), {0, 0.5, 0.5, 0});
    check_values(softmax(row({inf, 0}, dtype)), {nan, nan});
    check_values(softmax(row({-inf, -inf}, dtype)), {nan, nan});
    check_values(log_softmax(row({-inf, -inf}, dtype)), {nan, nan});
    check_values(softmax(row({nan, 0}, dtype)), {nan, nan});
    check_values(softmax(row({1e4, 1e4, -1e4, 1e4, 1e4}, dtype)), {0.25, 0.25, 0, 0.25, 0.25});
    check_values(softmax(reshape(row({inf, 0, 1, 1}, dtype), {2, 2})), {nan, nan, 0.5, 0.5});  // row by row
    check_values(log_softmax(row({-inf, 0}, dtype)), {-inf, 0});
    check_values(log_softmax(row({1e4, -1e4}, dtype)), {0, -2e4});
  });
}

TEST_CASE("causal attention is finite on a higher-order tape that detects anomalies") {
  const Tensor q = Rng(1).normal({1, 3, 1, 2}, 0, 1, Dtype::f64).set_trainable();
  Tape tape({.higher_order = true, .detect_anomaly = true});
  const Tensor y = attention(q, q, q);
  const Tensor dq = tape.gradient(sum(y), {q})[0];
  CHECK(all_finite(tape.gradient(sum(square(dq)), {q})[0]));
}

}  // namespace isobar::softmax_test
