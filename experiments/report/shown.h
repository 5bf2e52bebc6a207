// What the page shows of a summary, and no more: curves thinned to what a screen can show, values in five
// digits, of a claim the fields that are shown.
#pragma once

#include <string>

#include "../harness/json.h"

namespace isobar::report {

// The run's settings, expectations, charts and, where it has them, its measured values and its sample of text.
Json shown_run(const Json& summary);
Json shown_claim(const Json& claim);

}  // namespace isobar::report
