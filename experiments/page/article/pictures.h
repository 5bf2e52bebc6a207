// Pictures: the article's, as HTML images that hold their SVG.
#pragma once

#include "../../claims/kept.h"

namespace isobar::article {

// One of experiments/page/figures, which runs drew. Throws Error for another name.
std::string stored_picture(const std::string& name);

// Drawn from kept values: "layers" and "gradients". Throws Error for another name.
std::string drawn_picture(const std::string& name, const claims::Runs& runs);

// What ladders measured of these parts, by the name of each: a curve for each key of its reach, with the interval
// of confidence as far as the picture goes (report::view_of), over the logarithm of what climbs.
std::string ladder_picture(const std::vector<std::pair<std::string, Json>>& parts, const std::string& climbs);

}  // namespace isobar::article
