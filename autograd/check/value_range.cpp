#include "value_range.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "../../core/raw.h"

namespace isobar {
namespace {

// As short as it reads back in its dtype.
std::string number_text(double value, Dtype dtype) {
  if (std::isnan(value)) return "NaN";
  return dtype == Dtype::f32 ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value);
}

}  // namespace

std::string ValueRange::text() const {
  std::string text = fmt::format("{}", shape);
  if (!std::isnan(least))
    text += fmt::format(" from {} to {}", number_text(least, dtype), number_text(greatest, dtype));
  std::vector<std::string> bad;
  if (nans > 0) bad.push_back(fmt::format("{} NaN", nans));
  if (infinities > 0) bad.push_back(fmt::format("{} infinit{}", infinities, infinities == 1 ? "y" : "ies"));
  if (bad.empty()) return text;
  return fmt::format("{} {} {}", text, std::isnan(least) ? "with" : "and", fmt::join(bad, " and "));
}

std::string ValueRange::bad_text(const std::string& of) const {
  const int64_t more = nans + infinities - 1;
  const std::string others = more > 0 ? fmt::format(" and {} more place{}", more, more == 1 ? "" : "s") : "";
  return fmt::format("{} at [{}]{} of {} {}", number_text(bad_value, dtype), fmt::join(index(), ", "), others,
                     of, shape);
}

ValueRange range_of(const Tensor& x) {
  const Tensor whole = raw::contiguous(x);
  ValueRange range{.shape = x.shape(), .dtype = x.dtype()};
  dispatch_any(x.dtype(), [&]<class T>() {
    const T* const values = whole.data<T>();
    for (int64_t i = 0; i < whole.numel(); ++i) {
      const auto value = static_cast<double>(values[i]);
      if (std::isfinite(value)) {
        range.least = std::fmin(range.least, value);  // fmin(NaN, value) is value
        range.greatest = std::fmax(range.greatest, value);
        continue;
      }
      ++(std::isnan(value) ? range.nans : range.infinities);
      if (range.first_bad < 0) range.first_bad = i, range.bad_value = value;
    }
  });
  return range;
}

}  // namespace isobar
