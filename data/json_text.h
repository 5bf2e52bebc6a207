// JSON texts of a stranger's. A parser keeps its own stack, but copying, comparing and writing a value call
// themselves for each list in a list: a million of these end the process.
//
//   const Json json = parse_json<Json>(read_file(path, limit));
//   check(json.is_object(), "{}: wanted …", path);
#pragma once

#include "../core/error.h"

namespace isobar {

// The value. Throws Json::exception where the text is no JSON, and Error where lists and objects stand in
// each other deeper than in any file of ours.
template <class Json>
Json parse_json_or_throw(std::string_view text) {
  return Json::parse(text, [](int depth, auto, const Json&) {
    check(depth <= 100, "lists and objects stand in each other too deep");
    return true;
  });
}

// The value; a discarded one where that throws.
template <class Json>
Json parse_json(std::string_view text) {
  try {
    return parse_json_or_throw<Json>(text);
  } catch (const typename Json::exception&) {
    return Json::value_t::discarded;
  } catch (const Error&) {
    return Json::value_t::discarded;
  }
}

// What a Json::exception says, as a part of a sentence: without its number, and without the text that it quotes last,
// which may be long.
std::string json_complaint(std::string_view what);

}  // namespace isobar
