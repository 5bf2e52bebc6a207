// Text as HTML and SVG write it.
#pragma once

#include <string>

namespace isobar::report {

std::string escaped(const std::string& text);

}  // namespace isobar::report
