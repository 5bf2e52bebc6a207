// Json: what summaries are made of; keys keep the order in which they were set.
//
// JSON has no infinities and no NaN. In our files they are the strings "inf", "-inf" and "nan".
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace isobar {

using Json = nlohmann::ordered_json;

// A copy in which every non-finite number, at any depth, is its string.
Json with_named_infinities(const Json& json);
// NaN, where there is no such number, as null.
Json number_or_null(double value);
// The text of a file: indented by two, infinities named, invalid UTF-8 replaced, a newline at the end.
std::string json_text(const Json& json);

}  // namespace isobar
