// The picture of a map: heat maps of rate × scale, a panel a norm, with measured and predicted borders.
#pragma once

#include "map.h"

namespace isobar::trains {

// An SVG file of a task's nets with this optimizer and embedding, at their default depth; it needs no style sheet.
// Empty where the map has none.
std::string picture_of(const Map& map, const std::string& task, const std::string& optimizer,
                       double embedding_std);

}  // namespace isobar::trains
