// What a norm's output does not see: a shift or a scale of its input. And what it keeps: the direction.

#include "../../../nn/nn.h"
#include "properties.h"

namespace isobar::properties {
namespace {

const Shape features{512};

Tensor layernorm(const Tensor& x) { return layer_norm(x, features, {}, {}, 1e-5); }
Tensor rmsnorm(const Tensor& x) { return rms_norm(x, features, {}, 1e-5); }

// A01: each row has mean 0 and population std √(v / (v + eps)); the sample std is √(d/(d − 1)) of that.
void standardised_rows(Measurements& measurements, const Tensor& x) {
  const RowMoments before = row_moments(x), after = row_moments(layernorm(x));
  double largest_mean = 0, largest_error = 0, sample_std = 0;
  for (size_t r = 0; r < after.mean.size(); ++r) {
    const double variance = before.std[r] * before.std[r];
    largest_mean = std::max(largest_mean, std::abs(after.mean[r]));
    largest_error = std::max(largest_error, std::abs(after.std[r] - std::sqrt(variance / (variance + 1e-5))));
    sample_std = after.std[r] * std::sqrt(512.0 / 511);
  }
  measurements.add("layernorm.row_mean", largest_mean, 0, 1e-13);
  measurements.add("layernorm.row_std_error", largest_error, 0, 1e-13);
  measurements.add("layernorm.row_sample_std", sample_std, std::sqrt(512.0 / 511), 1e-4);
}

// A02, A03: 000's two examples to the letter, in f32. It divides by the sample std plus 1e-5.
void printed_examples(Measurements& measurements) {
  const Tensor x = tensor<float>({4}, std::vector<float>{0, 1, 2, 3});
  const auto recentred = [](const Tensor& v) { return v - mean(v); };
  const auto rescaled = [](const Tensor& v, double correction) {
    return v / (sqrt(var(v, std::nullopt, false, correction)) + 1e-5);
  };
  const Tensor wanted = tensor<float>({4}, std::vector<float>{-1.5f, -0.5f, 0.5f, 1.5f});
  const Tensor printed = tensor<float>({4}, std::vector<float>{0, 0.7746f, 1.5492f, 2.3238f});
  measurements.add("recentre.example.error", largest_difference(recentred(x + 10000), wanted), 0);
  measurements.add("rescale.example.error", largest_difference(rescaled(x * 10000, 1), printed), 0);
  measurements.add("rescale.example.population_std_error",
                   largest_difference(rescaled(x * 10000, 0), printed), 3 / std::sqrt(1.25) - 2.3238);
}

// A04: the same two lines on a batch of rows. Without keepdim the statistics of N rows do not fit (N, d),
// and for N = d they go to the wrong elements without a word.
void examples_on_rows(Measurements& measurements, const Rng& rng) {
  const auto recentred = [](const Tensor& v) { return v - mean(v, {-1}); };
  double refused = 0;
  try {
    recentred(rng.split("rows").normal({2, 4}));
  } catch (const Error&) {
    refused = 1;
  }
  measurements.add("recentre.rows.works", 1 - refused, 0);
  const Tensor square = rng.split("square").normal({4, 4}, 1, 1, Dtype::f64);
  measurements.add("recentre.square.error",
                   largest_difference(recentred(square), square - mean(square, {-1}, true)));
}

using Norm = Tensor (*)(const Tensor&);

double relative_rms(const Tensor& a, const Tensor& b) {
  return std::sqrt(mean(square(a - b)).item() / mean(square(b)).item());
}
// How far a norm's output moves at most when its input is scaled, by this distance.
double change_by_scales(Norm norm, const Tensor& x, double (*distance)(const Tensor&, const Tensor&)) {
  double most = 0;
  for (const double a : {0.5, 10.0, 1e4}) most = std::max(most, distance(norm(x * a), norm(x)));
  return most;
}

// A05, A06, C09.
void shifts_and_scales(Measurements& measurements, const Tensor& x) {
  double layer_shift = 0, rms_shift = 0;
  for (const double c : {0.1, 10.0, 1e4}) {
    layer_shift = std::max(layer_shift, largest_difference(layernorm(x + c), layernorm(x)));
    rms_shift = std::max(rms_shift, largest_difference(rmsnorm(x + c), rmsnorm(x)));
  }
  measurements.add("shift.layernorm.change", layer_shift, 0, 1e-10);
  measurements.add("shift.rmsnorm.change", rms_shift);
  measurements.add("scale.layernorm.change", change_by_scales(layernorm, x, largest_difference));
  measurements.add("scale.rmsnorm.change", change_by_scales(rmsnorm, x, largest_difference));
  // eps changes the output by a share of eps/σ² in LayerNorm, and of eps/(σ² + m²) in RMSNorm.
  for (const double mean : {0.0, 1.0, 2.0})
    measurements.add(fmt::format("scale.layernorm_over_rmsnorm.mean{:g}", mean),
                     change_by_scales(layernorm, x + mean, relative_rms) /
                         change_by_scales(rmsnorm, x + mean, relative_rms),
                     1 + mean * mean);
  // At an rms of 1e-3 the mean square is a tenth of eps: y is 1/√(1 + eps/ms) = 0.3 of its size.
  const double small_theory = 1 / std::sqrt(1 + 1e-5 / 1e-6);
  measurements.add("scale.layernorm.small_input_std", row_moments(layernorm(x * 1e-3)).std[0], small_theory);
  measurements.add("scale.rmsnorm.small_input_std", row_moments(rmsnorm(x * 1e-3)).std[0], small_theory);
}

// B07: RMSNorm leaves the mean where it is, LayerNorm turns the vector.
void skewed_features(Measurements& measurements, const Rng& rng) {
  const Tensor x = rng.split("x").normal({64, 512}, 0, 1, Dtype::f64);
  const Tensor shifted = x + 1;
  const std::vector<double> cosines = row_cosines(shifted, layernorm(shifted));
  measurements.add("skew.none.layernorm_cosine", least_cosine(x, layernorm(x)));
  // Of the worst of 64 rows, and their mean. The theory is of long rows; at 512 a cosine has a std of 0.019.
  measurements.add("skew.one.layernorm_cosine", *std::ranges::min_element(cosines), std::sqrt(0.5));
  measurements.add("skew.layernorm_cosine.mean",
                   std::accumulate(cosines.begin(), cosines.end(), 0.0) / static_cast<double>(cosines.size()),
                   std::sqrt(0.5));
  const Tensor skewed = rng.split("skewed").normal({64, 8192}, 2, 5, Dtype::f64);
  const RowMoments y = row_moments(rms_norm(skewed, {8192}, {}, 1e-5));
  measurements.add("skew.rmsnorm.mean", y.mean[0], 2 / std::sqrt(29.0));
  measurements.add("skew.rmsnorm.std", y.std[0], 5 / std::sqrt(29.0));
}

// How far the cosine of a pair of rows moves at most when both are normalised; the cosines in f64.
double change_of_pairs(const Tensor& x, const Tensor& y) {
  const int64_t half = x.size(0) / 2;
  const auto cosines = [half](const Tensor& rows) {
    return row_cosines(slice(rows, 0, 0, half), slice(rows, 0, half, 2 * half));
  };
  const std::vector<double> before = cosines(x), after = cosines(y);
  double most = 0;
  for (size_t i = 0; i < before.size(); ++i) most = std::max(most, std::abs(after[i] - before[i]));
  return most;
}

// D11, D14: 1 − cos(x, RMSNorm(x)), the cosine in double or in the data's own precision, and with a weight; and the
// cosine of two rows, before and after.
void directions(Measurements& measurements, const Rng& rng) {
  const Tensor x = rng.split("x").normal({640, 512});
  const Tensor y = rmsnorm(x);
  measurements.add("direction.cosine_in_f64.deviation", 1 - least_cosine(x, y), 0, 1e-12);
  const auto dot = [](const Tensor& a, const Tensor& b) { return sum(a * b, {-1}); };
  const std::vector<float> cosines = (dot(x, y) / sqrt(dot(x, x) * dot(y, y))).to_vector<float>();
  double largest = 0;
  for (const float cosine : cosines) largest = std::max(largest, std::abs(1 - static_cast<double>(cosine)));
  measurements.add("direction.cosine_in_f32.deviation", largest);
  measurements.add("direction.pairs_in_f32.change", change_of_pairs(x, y));
  const Tensor wide = cast(x, Dtype::f64);
  measurements.add("direction.pairs_in_f64.change", change_of_pairs(wide, rmsnorm(wide)), 0, 1e-12);
  const Tensor weight = rng.split("weight").normal({512}, 1, 0.1);
  measurements.add("direction.weighted.deviation", 1 - least_cosine(x, y * weight));
  const std::vector<double> row = rms_norm(cast(x, Dtype::f64), features, {}, 0).to_vector<double>();
  double squares = 0;
  for (int64_t c = 0; c < 512; ++c) squares += row[c] * row[c];
  measurements.add("length.rms", std::sqrt(squares / 512), 1, 1e-13);
  measurements.add("length.euclidean", std::sqrt(squares), std::sqrt(512.0), 1e-12);
}

}  // namespace

void measure_invariances(Measurements& measurements, const Rng& rng) {
  const Tensor x = rng.split("rows").normal({64, 512}, 0, 1, Dtype::f64);
  standardised_rows(measurements, x + 3);
  printed_examples(measurements);
  examples_on_rows(measurements, rng.split("examples"));
  shifts_and_scales(measurements, x);
  skewed_features(measurements, rng.split("skewed"));
  directions(measurements, rng.split("directions"));
}

double largest_difference(const Tensor& a, const Tensor& b) {
  check(a.shape() == b.shape(), "largest_difference: wanted two tensors of one shape, got {} and {}",
        a.shape(), b.shape());
  const std::vector<double> x = cast(a, Dtype::f64).to_vector<double>(),
                            y = cast(b, Dtype::f64).to_vector<double>();
  double largest = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double difference = std::abs(x[i] - y[i]);
    largest =
        std::isfinite(difference) ? std::max(largest, difference) : std::numeric_limits<double>::infinity();
  }
  return largest;
}

RowMoments row_moments(const Tensor& x) {
  const std::vector<double> values = cast(x, Dtype::f64).to_vector<double>();
  const size_t columns = values.size() / static_cast<size_t>(x.size(0));
  RowMoments result;
  for (size_t begin = 0; begin < values.size(); begin += columns) {
    const std::span<const double> row(&values[begin], columns);
    const double mean = std::accumulate(row.begin(), row.end(), 0.0) / static_cast<double>(columns);
    double squares = 0;
    for (const double value : row) squares += (value - mean) * (value - mean);
    result.mean.push_back(mean);
    result.std.push_back(std::sqrt(squares / static_cast<double>(columns)));
  }
  return result;
}

std::vector<double> row_cosines(const Tensor& a, const Tensor& b) {
  const std::vector<double> x = cast(a, Dtype::f64).to_vector<double>(),
                            y = cast(b, Dtype::f64).to_vector<double>();
  const size_t columns = x.size() / static_cast<size_t>(a.size(0));
  std::vector<double> cosines;
  for (size_t begin = 0; begin < x.size(); begin += columns) {
    const auto product = [&](const std::vector<double>& u, const std::vector<double>& v) {
      return std::inner_product(&u[begin], &u[begin] + columns, &v[begin], 0.0);
    };
    cosines.push_back(product(x, y) / std::sqrt(product(x, x) * product(y, y)));
  }
  return cosines;
}

double least_cosine(const Tensor& a, const Tensor& b) {
  double least = 1;
  for (const double cosine : row_cosines(a, b)) {
    if (std::isnan(cosine)) return cosine;
    least = std::min(least, cosine);
  }
  return least;
}

}  // namespace isobar::properties
