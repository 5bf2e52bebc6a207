// Untrusted JSON texts. The parser has its own stack, but copying, comparing and writing a value are
// recursive: a million nested lists would end the process.
//
//   const Json json = parse_json<Json>(read_file(path, limit));
//   check(json.is_object(), "{}: wanted …", path);
#pragma once

#include "../core/error.h"

namespace isobar {

// Returns the value. Throws Json::exception if the text is not JSON, and Error if lists and objects are
// nested more than 100 deep, which no file of Isobar needs.
template <class Json>
Json parse_json_or_throw(std::string_view text) {
  return Json::parse(text, [](int depth, auto, const Json&) {
    check(depth <= 100, "lists and objects are nested too deep");
    return true;
  });
}

// Returns the value, or a discarded value if parse_json_or_throw() throws.
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

// Returns the message of a Json::exception without its number, and without the text that it quotes, which may
// be long.
std::string json_complaint(std::string_view what);

}  // namespace isobar
