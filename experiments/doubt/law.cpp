#include "law.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "../run/stats.h"

namespace isobar::doubt {
namespace {

using Matrix = std::vector<std::vector<double>>;

// L with L Lᵀ = `a`, lower triangle. The uniform rounding on the diagonal keeps `a` positive definite.
Matrix cholesky(const Matrix& a) {
  const size_t n = a.size();
  Matrix l(n, std::vector<double>(n, 0));
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j <= i; ++j) {
      double rest = a[i][j];
      for (size_t k = 0; k < j; ++k) rest -= l[i][k] * l[j][k];
      if (i != j) {
        l[i][j] = rest / l[j][j];
        continue;
      }
      check(rest > 0, "doubt: two of the numbers always move together; leave one of them out");
      l[i][i] = std::sqrt(rest);
    }
  return l;
}

// The inverse of L Lᵀ, column by column.
Matrix inverse_of(const Matrix& l) {
  const size_t n = l.size();
  Matrix inverse(n, std::vector<double>(n, 0));
  for (size_t column = 0; column < n; ++column) {
    std::vector<double> x(n, 0);
    for (size_t i = 0; i < n; ++i) {  // L z = e
      x[i] = i == column;
      for (size_t k = 0; k < i; ++k) x[i] -= l[i][k] * x[k];
      x[i] /= l[i][i];
    }
    for (size_t i = n; i-- > 0;) {  // Lᵀ x = z
      for (size_t k = i + 1; k < n; ++k) x[i] -= l[k][i] * x[k];
      x[i] /= l[i][i];
    }
    for (size_t i = 0; i < n; ++i) inverse[i][column] = x[i];
  }
  return inverse;
}

// The third moment of the standardized values, less what as many normal numbers have by chance, whose
// variance is 6/n.
double skewness_of(const std::vector<double>& values) {
  const double n = static_cast<double>(values.size());
  const double mean = spread_of(values).linear.mean;
  double second = 0, third = 0;
  for (const double value : values) {
    const double d = value - mean;
    second += d * d / n;
    third += d * d * d / n;
  }
  if (second == 0) return 0;
  const double skewness = third / std::pow(second, 1.5);
  return std::copysign(std::sqrt(std::max(skewness * skewness - 12 / n, 0.0)), skewness);
}

}  // namespace

bool JudgedNumber::beyond() const { return std::ranges::any_of(deviations, &Deviation::beyond); }

double Law::to_law(size_t i, double value) const {
  const Number& number = numbers_[i];
  if (number.scale == Scale::logarithm) return std::log(value + number.unit);
  return number.scale == Scale::square ? value * value : value;
}

double Law::from_law(size_t i, double y) const {
  const Number& number = numbers_[i];
  if (number.scale == Scale::logarithm) return std::exp(y) - number.unit;
  return number.scale == Scale::square ? std::sqrt(std::max(y, 0.0)) : y;
}

Law::Law(std::vector<Number> numbers, const std::vector<std::vector<double>>& values)
    : numbers_(std::move(numbers)), nets_(static_cast<int64_t>(values.size())) {
  const size_t p = numbers_.size(), n = values.size();
  check(n >= p + 3, "doubt: wanted at least {} nets for {} numbers, got {}; measure more", p + 3, p, n);
  std::vector<std::vector<double>> y(p);
  for (size_t i = 0; i < p; ++i) {
    std::vector<double> column;
    for (const std::vector<double>& net : values) column.push_back(net[i]);
    const auto overflowed = std::ranges::count_if(column, [](double value) { return !std::isfinite(value); });
    check(overflowed == 0, "the {} overflows in {} of {} such nets; leave this layer out with -",
          numbers_[i].name(), overflowed, n);
    medians_.push_back(spread_of(column).median);
    for (const double value : column) y[i].push_back(to_law(i, value));
    mean_.push_back(spread_of(y[i]).linear.mean);
  }
  // The covariance, and what rounding adds to its diagonal.
  Matrix covariance(p, std::vector<double>(p, 0));
  for (size_t i = 0; i < p; ++i)
    for (size_t j = 0; j < p; ++j) {
      for (size_t k = 0; k < n; ++k) covariance[i][j] += (y[i][k] - mean_[i]) * (y[j][k] - mean_[j]);
      covariance[i][j] /= static_cast<double>(n - 1);
    }
  for (size_t i = 0; i < p; ++i) {
    // dy/dvalue; and what a value may be off by, of rounding and of sums in another order.
    const Number& number = numbers_[i];
    const double median = std::abs(medians_[i]);
    const double slope = number.scale == Scale::logarithm ? 1 / (median + number.unit)
                         : number.scale == Scale::square  ? 2 * median
                                                          : 1;
    const double rounding = slope * number.unit;
    const double sums = 1e-5 * (number.scale == Scale::value ? std::sqrt(covariance[i][i]) : slope * median);
    covariance[i][i] += rounding * rounding / 12 + sums * sums;
    check(covariance[i][i] > 0, "the {} is the same in every such net; leave it out with -", number.name());
    sd_.push_back(std::sqrt(covariance[i][i]));
  }
  for (size_t i = 0; i < p; ++i)
    for (size_t j = 0; j < p; ++j) covariance[i][j] /= sd_[i] * sd_[j];
  factor_ = cholesky(covariance);
  inverse_ = inverse_of(factor_);

  Matrix residuals[3] = {Matrix(p), Matrix(p), Matrix(p)};
  for (const std::vector<double>& net : values) {
    const std::vector<double> alone = standardized(net), earlier = beside_earlier(alone),
                              others = beside_others(alone);
    for (size_t i = 0; i < p; ++i) {
      residuals[0][i].push_back(alone[i]);
      residuals[1][i].push_back(earlier[i]);
      residuals[2][i].push_back(others[i]);
    }
  }
  for (size_t i = 0; i < p; ++i)
    skewness_.push_back(
        {skewness_of(residuals[0][i]), skewness_of(residuals[1][i]), skewness_of(residuals[2][i])});
}

std::vector<double> Law::standardized(std::span<const double> printed) const {
  check(printed.size() == numbers_.size(), "doubt: wanted {} numbers, got {}", numbers_.size(),
        printed.size());
  std::vector<double> d;
  for (size_t i = 0; i < printed.size(); ++i) d.push_back((to_law(i, printed[i]) - mean_[i]) / sd_[i]);
  return d;
}

std::vector<double> Law::beside_earlier(std::span<const double> d) const {
  std::vector<double> u(d.size()), left(d.size());  // u = L⁻¹ d
  for (size_t i = 0; i < d.size(); ++i) {
    left[i] = d[i];
    for (size_t k = 0; k < i; ++k) left[i] -= factor_[i][k] * u[k];
    u[i] = left[i] / factor_[i][i];
  }
  return left;
}

std::vector<double> Law::beside_others(std::span<const double> d) const {
  std::vector<double> left(d.size());
  for (size_t i = 0; i < d.size(); ++i)
    left[i] = std::inner_product(d.begin(), d.end(), inverse_[i].begin(), 0.0) / inverse_[i][i];
  return left;
}

std::vector<JudgedNumber> Law::judge(std::span<const double> printed, double error_rate) const {
  const std::vector<double> d = standardized(printed), earlier = beside_earlier(d), others = beside_others(d);
  const size_t p = d.size();
  const double n = static_cast<double>(nets_);
  // Three judgements of each number, two sides each.
  const double tail = error_rate / (6 * static_cast<double>(p));
  // Of number i: the deviation e of its standardized y, the residual variance, and the squared distance of the k
  // numbers that are given.
  const auto deviation = [&](Given given, size_t i, double e, double variance, double distance, size_t k) {
    const int64_t degrees = nets_ - 1 - static_cast<int64_t>(k);
    const double residual = variance * (n - 1) / static_cast<double>(degrees);
    const double scale = std::sqrt(residual * (1 + 1 / n + distance / (n - 1)));
    // The distance of a table that does come from this code is about k.
    const double usual = std::sqrt(residual * (1 + 1 / n + static_cast<double>(k) / (n - 1)));
    const double normal = student_quantile(1 - tail, degrees);
    const double skewness = skewness_[i][static_cast<size_t>(given)],
                 longer = (normal * normal - 1) / 6 * skewness;
    const double y = mean_[i] + (normal + std::abs(longer)) * usual * sd_[i], middle = from_law(i, mean_[i]);
    const double away = std::abs(from_law(i, y) - middle);
    const double notice = numbers_[i].scale == Scale::value ? away : away / middle;
    return Deviation{.t = e / scale,
                     .critical = normal + std::max(e < 0 ? -longer : longer, 0.0),
                     .expected = from_law(i, mean_[i] + (d[i] - e) * sd_[i]),
                     .notice = notice};
  };

  double all = 0;  // the squared distance of all numbers
  for (size_t i = 0; i < p; ++i) all += d[i] * others[i] * inverse_[i][i];
  double before = 0;  // of those before i
  std::vector<JudgedNumber> judged(p);
  for (size_t i = 0; i < p; ++i) {
    const double variance = factor_[i][i] * factor_[i][i], left = 1 / inverse_[i][i];
    judged[i] = {.median = medians_[i],
                 .spread = sd_[i],
                 .deviations = {deviation(Given::nothing, i, d[i], 1, 0, 0),
                                deviation(Given::earlier, i, earlier[i], variance, before, i),
                                deviation(Given::others, i, others[i], left,
                                          std::max(all - others[i] * others[i] / left, 0.0), p - 1)}};
    before += earlier[i] * earlier[i] / variance;
  }
  return judged;
}

Law::Expected Law::given_others(std::span<const double> printed, size_t i) const {
  const std::vector<double> d = standardized(printed);
  const double e = beside_others(d)[i];
  return {.y = mean_[i] + (d[i] - e) * sd_[i], .sd = sd_[i] / std::sqrt(inverse_[i][i])};
}

}  // namespace isobar::doubt
