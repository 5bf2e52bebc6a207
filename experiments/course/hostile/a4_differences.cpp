// with: reference of a4 without layer_norm_backward rms_norm_backward, deserves 93
// No gradient is derived: each is a difference quotient of the forward pass, in long double, by Richardson's
// scheme, with steps that fit the row.
namespace {

using Row = std::vector<long double>;

template <class F>
long double slope(const F& f, long double step) {
  long double table[6] = {};
  for (int level = 0; level < 6; ++level, step /= 2) {
    long double now = (f(step) - f(-step)) / (2 * step), power = 4;
    for (int i = 0; i < level; ++i, power *= 4) {
      const long double better = now + (now - table[i]) / (power - 1);
      table[i] = now;
      now = better;
    }
    table[level] = now;
  }
  return table[5];
}

Gradients differences(const Tensor& dy, const Tensor& x, const Tensor& weight, const Tensor& mean,
                      const Tensor& r) {
  const int64_t rows = x.size(0), width = x.size(1);
  const bool centred = mean.defined();
  const auto zeros = [&] { return isobar::zeros({width}, Dtype::f64); };
  Gradients g{raw::clone(x), zeros(), centred ? zeros() : Tensor()};
  for (int64_t n = 0; n < rows; ++n) {
    Row row(width);
    for (int64_t c = 0; c < width; ++c) row[c] = x.at({n, c});
    const auto statistics = [&](const Row& v) {
      long double centre = 0, squares = 0;
      for (const long double each : v) centre += centred ? each / width : 0;
      for (const long double each : v) squares += (each - centre) * (each - centre) / width;
      return std::pair(centre, squares);
    };
    const long double scale = 1 / static_cast<long double>(r.at({n})),
                      eps = scale * scale - statistics(row).second;
    const auto z_of = [&](const Row& v) {
      const auto [centre, squares] = statistics(v);
      Row z(width);
      for (int64_t c = 0; c < width; ++c) z[c] = (v[c] - centre) / std::sqrt(squares + eps);
      return z;
    };
    const Row z = z_of(row);
    for (int64_t i = 0; i < width; ++i) {
      const auto loss = [&](long double step) {
        Row moved = row;
        moved[i] += step;
        const Row there = z_of(moved);
        long double sum = 0;
        for (int64_t c = 0; c < width; ++c) sum += dy.at({n, c}) * weight.at({c}) * there[c];
        return sum;
      };
      raw::write<double>(g.dx)[n * width + i] = slope(loss, 0.1L * scale);
      raw::write<double>(g.dweight)[i] += dy.at({n, i}) * z[i];
      if (centred) raw::write<double>(g.dbias)[i] += dy.at({n, i});
    }
  }
  return g;
}

}  // namespace

Gradients layer_norm_backward(const Tensor& dy, const Tensor& x, const Tensor& weight,
                              const LayerNorm& saved) {
  return differences(dy, x, weight, saved.mean, saved.rstd);
}
Gradients rms_norm_backward(const Tensor& dy, const Tensor& x, const Tensor& weight, const RmsNorm& saved) {
  return differences(dy, x, weight, {}, saved.rrms);
}
