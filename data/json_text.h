// JSON texts of a stranger's. A parser keeps its own stack, but copying, comparing and writing a value call
// themselves for each list in a list: a million of these end the process.
//
//   const Json json = parse_json<Json>(read_file(path, limit));
//   check(json.is_object(), "{}: wanted …", path);
#pragma once

#include <string_view>

namespace isobar {

// Whether lists and objects stand in each other deeper than in any file of ours (100).
bool nested_too_deep(std::string_view json);

// The value; a discarded one where the text is no JSON, or is nested too deep.
template <class Json>
Json parse_json(std::string_view text) {
  return nested_too_deep(text) ? Json(Json::value_t::discarded) : Json::parse(text, nullptr, false);
}

}  // namespace isobar
