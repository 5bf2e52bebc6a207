// RMSNorm in half precision, with its statistics in f32 and without, in double, rounded after each operation.
#include "../../../nn/nn.h"
#include "properties.h"

namespace isobar::properties {
namespace {

// A binary format: significant bits, a normal number's least exponent (as frexp counts), the largest number.
struct Format {
  const char* name;
  int digits, least_exponent;
  double largest;

  // To the nearest number, of two equally near ones the even one; overflow goes to infinity.
  double operator()(double x) const {
    if (x == 0 || !std::isfinite(x)) return x;
    int exponent;
    std::frexp(x, &exponent);
    const double unit = std::ldexp(1, std::max(exponent, least_exponent) - digits);
    const double rounded = std::nearbyint(x / unit) * unit;
    return std::abs(rounded) <= largest ? rounded : std::copysign(std::numeric_limits<double>::infinity(), x);
  }
};
constexpr Format fp16{"fp16", 11, -13, 65504};
constexpr Format bf16{"bf16", 8, -125, 3.3895313892515355e38};
constexpr Format f32{"f32", 24, -125, 3.4028234663852886e38};

constexpr double eps = 1e-6;

// One row, in format `in`, with squares, mean and root rounded to format `inside`; the output rounded to
// `in`. The sum itself is exact, which favours the low format.
std::vector<double> normalise(const std::vector<double>& x, const Format& in, const Format& inside) {
  double sum = 0;
  for (const double v : x) sum += inside(v * v);
  const double mean_square = inside(sum / static_cast<double>(x.size()));
  const double inverse = inside(1 / inside(std::sqrt(inside(mean_square + eps))));
  std::vector<double> y;
  for (const double v : x) y.push_back(in(inside(v * inverse)));
  return y;
}

double largest_error(const std::vector<double>& y, const std::vector<double>& x) {
  double sum = 0, largest = 0;
  for (const double v : x) sum += v * v;
  const double root = std::sqrt(sum / static_cast<double>(x.size()) + eps);
  for (size_t i = 0; i < x.size(); ++i) {
    const double error = std::abs(y[i] - x[i] / root);
    largest = std::isfinite(error) ? std::max(largest, error) : std::numeric_limits<double>::infinity();
  }
  return largest;
}

std::vector<double> row_in(const Format& format, double scale, const Rng& rng) {
  std::vector<double> x(512);
  for (size_t i = 0; i < x.size(); ++i) x[i] = format(scale * rng.normal_at(i));
  return x;
}

// C06: errors at several scales of the input. In fp16 a square overflows as soon as |x| > √65504 = 255.9.
void upcast(Measurements& measurements, const Rng& rng) {
  for (const Format& format : {fp16, bf16})
    for (const double scale : {0.01, 1.0, 100.0}) {
      const std::vector<double> x = row_in(format, scale, rng);
      const std::string key = fmt::format("precision.{}.scale{:g}", format.name, scale);
      measurements.add(key + ".upcast_error", largest_error(normalise(x, format, f32), x));
      measurements.add(key + ".plain_error", largest_error(normalise(x, format, format), x));
    }
  const auto overflows = [](double v) { return std::isinf(fp16(v * v)) ? 1.0 : 0.0; };
  const double last = 255.875, next = 256;  // neighbouring numbers of fp16 around √65504
  measurements.add("precision.fp16.square_overflows_at_255.875", overflows(last), 0, 0);
  measurements.add("precision.fp16.square_overflows_at_256", overflows(next), 1, 0);
}

// C07: n.type_as(x) * weight is a product of fp16 with f32 and therefore f32: the share of results that are
// fp16 numbers. The other order, (weight * n).type_as(x), rounds last.
void result_type(Measurements& measurements, const Rng& rng) {
  const std::vector<double> n = normalise(row_in(fp16, 1, rng.split("x")), fp16, f32);
  const Rng weights = rng.split("weight");
  int64_t rounded_first = 0, rounded_last = 0;
  for (size_t i = 0; i < n.size(); ++i) {
    const double weight = f32(1 + 0.1 * weights.normal_at(i));
    const double first = f32(n[i] * weight), last = fp16(f32(weight * n[i]));
    rounded_first += fp16(first) == first;
    rounded_last += fp16(last) == last;
  }
  const auto share = [&](int64_t count) {
    return static_cast<double>(count) / static_cast<double>(n.size());
  };
  measurements.add("precision.type_as_before_weight.share_in_type", share(rounded_first));
  measurements.add("precision.type_as_after_weight.share_in_type", share(rounded_last), 1);
}

// D14 for data in bf16: rounding the output turns the vector a little.
void rounded_direction(Measurements& measurements, const Rng& rng) {
  for (const Format& format : {fp16, bf16}) {
    const std::vector<double> x = row_in(format, 1, rng), y = normalise(x, format, f32);
    const double cosine = row_cosines(tensor({1, 512}, x), tensor({1, 512}, y))[0];
    measurements.add(fmt::format("direction.{}.deviation", format.name), 1 - cosine);
  }
}

}  // namespace

void measure_precision(Measurements& measurements, const Rng& rng) {
  upcast(measurements, rng.split("upcast"));
  result_type(measurements, rng.split("type"));
  rounded_direction(measurements, rng.split("direction"));
}

}  // namespace isobar::properties
