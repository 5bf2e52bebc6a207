#include "json.h"

#include <cmath>

namespace isobar {

Json with_named_infinities(const Json& json) {
  if (json.is_number_float()) {
    const double value = json.get<double>();
    if (std::isfinite(value)) return json;
    if (std::isnan(value)) return "nan";
    return value > 0 ? "inf" : "-inf";
  }
  if (!json.is_structured()) return json;
  Json copy = json;
  for (Json& part : copy) part = with_named_infinities(part);
  return copy;
}

Json number_or_null(double value) { return std::isnan(value) ? Json() : Json(value); }

std::string json_text(const Json& json) {
  return with_named_infinities(json).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace isobar
