// Json: what summaries are made of; keys keep the order in which they were set.
//
// JSON has no infinities and no NaN. In our files they are the strings "inf", "-inf" and "nan".
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

namespace isobar {

using Json = nlohmann::ordered_json;

// A copy in which every non-finite number, at any depth, is its string.
inline Json with_named_infinities(const Json& json) {
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
// NaN, where there is no such number, as null.
inline Json number_or_null(double value) { return std::isnan(value) ? Json() : Json(value); }
// The text of a file: indented by two, infinities named, invalid UTF-8 replaced, a newline at the end.
inline std::string json_text(const Json& json) {
  return with_named_infinities(json).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace isobar
