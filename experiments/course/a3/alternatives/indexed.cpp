// Every element by its index, gradients as explicit sums.
#include <cmath>
#include <functional>

#include "a3.h"

namespace {

Tensor make(int64_t rows, int64_t columns, const std::function<double(int64_t, int64_t)>& f) {
  std::vector<double> values;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) values.push_back(f(i, j));
  return isobar::tensor({rows, columns}, values);
}

double sum(int64_t count, const std::function<double(int64_t)>& f) {
  double total = 0;
  for (int64_t i = 0; i < count; ++i) total += f(i);
  return total;
}

std::vector<int64_t> checked(const Tensor& targets, int64_t classes, int64_t ignore) {
  const std::vector<int64_t> all = targets.to_vector<int64_t>();
  for (const int64_t t : all)
    check(t == ignore || (0 <= t && t < classes), "cross_entropy: {} is not a class of {}", t, classes);
  return all;
}

}  // namespace

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  check(x.ndim() == 2 && weight.ndim() == 2 && x.size(-1) == weight.size(-1), "linear: got {} and {}",
        x.shape(), weight.shape());
  if (bias.defined())
    check(bias.ndim() == 1 && bias.numel() == weight.size(0), "linear: weight {}, bias {}", weight.shape(),
          bias.shape());
  return make(x.size(0), weight.size(0), [&](int64_t n, int64_t m) {
    return sum(x.size(1),
               [&](int64_t k) {
                 return x.at({n, k}) * weight.at({m, k});
               }) +
           (bias.defined() ? bias.at({m}) : 0);
  });
}

LinearGradients linear_backward(const Tensor& dy, const Tensor& x, const Tensor& weight) {
  const int64_t rows = x.size(0), inputs = x.size(1), outputs = weight.size(0);
  const Tensor db = make(1, outputs, [&](int64_t, int64_t m) {
    return sum(rows, [&](int64_t n) { return dy.at({n, m}); });
  });
  return {make(rows, inputs,
               [&](int64_t n, int64_t k) {
                 return sum(outputs, [&](int64_t m) { return dy.at({n, m}) * weight.at({m, k}); });
               }),
          make(outputs, inputs,
               [&](int64_t m, int64_t k) {
                 return sum(rows, [&](int64_t n) { return dy.at({n, m}) * x.at({n, k}); });
               }),
          isobar::tensor({outputs}, db.to_vector<double>())};
}

Tensor relu(const Tensor& x) {
  std::vector<double> v = x.to_vector<double>();
  for (double& y : v)
    if (y < 0) y = 0;
  return isobar::tensor(x.shape(), v);
}

Tensor relu_backward(const Tensor& dy, const Tensor& x) {
  std::vector<double> v = x.to_vector<double>();
  const std::vector<double> d = dy.to_vector<double>();
  for (size_t i = 0; i < v.size(); ++i) v[i] = d[i] * (v[i] > 0);
  return isobar::tensor(x.shape(), v);
}

Tensor xavier_uniform(int64_t out, int64_t in, const Rng& rng) {
  return make(out, in, [&](int64_t i, int64_t j) {
    return (rng.uniform_at(i * in + j) - 0.5) * std::sqrt(24.0 / (out + in));
  });
}

Tensor he_normal(int64_t out, int64_t in, const Rng& rng) {
  return make(out, in, [&](int64_t i, int64_t j) { return rng.normal_at(i * in + j) / std::sqrt(in / 2.0); });
}

Tensor torch_default(int64_t out, int64_t in, const Rng& rng) {
  return make(out, in,
              [&](int64_t i, int64_t j) { return (rng.uniform_at(i * in + j) - 0.5) * 2 / std::sqrt(in); });
}

Tensor log_softmax(const Tensor& x) {
  const int64_t classes = x.size(1);
  return make(x.size(0), classes, [&](int64_t n, int64_t v) {
    // −log Σ exp(x_j − x_v), its largest term taken out
    double top = 0;
    for (int64_t j = 0; j < classes; ++j) top = std::max(top, x.at({n, j}) - x.at({n, v}));
    return -top - std::log(sum(classes, [&](int64_t j) {
      return std::exp(x.at({n, j}) - x.at({n, v}) - top);
    }));
  });
}

Tensor log_softmax_backward(const Tensor& dy, const Tensor& y) {
  const int64_t classes = y.size(1);
  return make(y.size(0), classes, [&](int64_t n, int64_t v) {
    return sum(classes, [&](int64_t j) { return dy.at({n, j}) * ((j == v) - std::exp(y.at({n, v}))); });
  });
}

double cross_entropy(const Tensor& logits, const Tensor& targets, int64_t ignore) {
  const std::vector<int64_t> all = checked(targets, logits.size(1), ignore);
  const Tensor log_p = log_softmax(logits);
  const auto counts = [&](int64_t n) { return all[n] != ignore; };
  return -sum(all.size(), [&](int64_t n) {
    return counts(n) ? log_p.at({n, all[n]}) : 0;
  }) / sum(all.size(), counts);
}

Tensor cross_entropy_backward(const Tensor& logits, const Tensor& targets, int64_t ignore) {
  const std::vector<int64_t> all = checked(targets, logits.size(1), ignore);
  const double rows = sum(all.size(), [&](int64_t n) { return all[n] != ignore; });
  const Tensor log_p = log_softmax(logits);
  return make(logits.size(0), logits.size(1), [&](int64_t n, int64_t v) {
    return all[n] == ignore ? 0.0 : (std::exp(log_p.at({n, v})) - (v == all[n] ? 1 : 0)) / rows;
  });
}
