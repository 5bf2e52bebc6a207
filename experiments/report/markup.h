// Text as it stands in HTML and SVG.
#pragma once

#include <string>

namespace isobar::report {

std::string escaped(const std::string& text);

}  // namespace isobar::report
