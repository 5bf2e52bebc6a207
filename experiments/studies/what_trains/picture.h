// The picture of a map: heat maps of rate × scale, a panel a norm, with measured and predicted borders.
#pragma once

#include "../../page/charts/charts.h"
#include "map.h"

namespace isobar::trains {

// An SVG file of a task's nets with this optimizer and embedding, at their default depth; it needs no style sheet.
// Empty where the map has none.
std::string picture_of(const Map& map, const std::string& task, const std::string& optimizer,
                       double embedding_std);

// Where a net and a rate are on a map, for a page: two panels with the rates to the right, upwards the scale (of the nets
// of default depth) and the depth (of those of default scale), with what was measured there and the borders that are
// predicted for the net. What was measured is pale where the net has another depth, or scale.
charts::Drawing place_of(const Map& map, const Net& net, double rate, double width);

}  // namespace isobar::trains
