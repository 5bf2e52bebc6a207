// A JSON string of any text, which may also stand in a script of HTML.
#pragma once

#include <string>
#include <string_view>

namespace isobar {

std::string json_string(std::string_view text);

}  // namespace isobar
