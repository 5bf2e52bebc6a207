// A plot as a picture of its own: one SVG file, light or dark as its reader's machine is.
#pragma once

#include <string>

#include "../harness/json.h"

namespace isobar::report {

// `plot` is what run.plot() left in summary.json; a curve may have a "colour", its number in the palette.
// Every curve is one element of class "curve": a polyline, or a path of dots for printed values and where x
// counts things. Text stays text. Throws Error when there is nothing to draw.
std::string figure_svg(const Json& plot);

}  // namespace isobar::report
