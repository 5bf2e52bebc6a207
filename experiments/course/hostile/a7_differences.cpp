// with: reference of a7 without rope_backward attention_backward swiglu_backward, deserves 5 more than without
// Each gradient is a difference quotient of the forward pass; the saved probability is where attention's begins.
differences;

Tensor rope_backward(const Tensor& dy, double base, int64_t start) {
  Tensor x = isobar::zeros(dy.shape(), Dtype::f64), dx = raw::clone(x);
  for (int64_t i = 0; i < x.numel(); ++i) {
    raw::write<double>(x)[i] = 1;
    const Tensor y = rope(x, base, start);
    for (int64_t j = 0; j < x.numel(); ++j)
      raw::write<double>(dx)[i] += dy.data<double>()[j] * y.data<double>()[j];
    raw::write<double>(x)[i] = 0;
  }
  return dx;
}
AttentionGradients attention_backward(const Tensor& dy, const Tensor& q, const Tensor& k, const Tensor& v,
                                      const Tensor& probability) {
  const int64_t queries = q.size(0), heads = q.size(1), dim = q.size(2), keys = k.size(0),
                kv_heads = k.size(1);
  Numbers qs = numbers_of(q.data<double>(), q.numel()), ks = numbers_of(k.data<double>(), k.numel()),
          vs = numbers_of(v.data<double>(), v.numel());
  const Numbers q0 = qs, k0 = ks;
  const auto loss = [&] {
    long double sum = 0;
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t t = 0; t < queries; ++t) {
        const int64_t row = (t * heads + h) * dim;
        Numbers e(keys);
        long double all = 0;
        for (int64_t s = 0; s < keys; ++s) {
          const int64_t key = (s * kv_heads + h * kv_heads / heads) * dim;
          for (int64_t d = 0; d < dim; ++d)
            e[s] += (qs[row + d] * ks[key + d] - q0[row + d] * k0[key + d]) / std::sqrt((long double)dim);
          all += e[s] = probability.at({h, t, s}) * std::exp(e[s]);
        }
        for (int64_t s = 0; s < keys; ++s)
          for (int64_t d = 0; d < dim; ++d)
            sum += e[s] / all * vs[(s * kv_heads + h * kv_heads / heads) * dim + d] * dy.at({t, h, d});
      }
    return sum;
  };
  const std::vector<double> dq = slopes(qs, loss), dk = slopes(ks, loss), dv = slopes(vs, loss);
  return {isobar::tensor(q.shape(), dq), isobar::tensor(k.shape(), dk), isobar::tensor(v.shape(), dv)};
}
SwigluGradients swiglu_backward(const Tensor& dy, const Tensor& gate, const Tensor& up) {
  Numbers x = numbers_of(gate.data<double>(), gate.numel()), u = numbers_of(up.data<double>(), up.numel());
  const auto loss = [&] {
    long double sum = 0;
    for (size_t i = 0; i < x.size(); ++i) sum += dy.data<double>()[i] * x[i] / (1 + std::exp(-x[i])) * u[i];
    return sum;
  };
  const std::vector<double> dgate = slopes(x, loss), dup = slopes(u, loss);
  return {isobar::tensor(gate.shape(), dgate), isobar::tensor(up.shape(), dup)};
}
