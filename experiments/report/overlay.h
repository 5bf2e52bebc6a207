// Which plot of which run: one, or the same of several runs laid over each other.
#pragma once

#include <string>

#include "../harness/json.h"

namespace isobar::report {

// The plot "run.key" of these runs (Content::runs()), or "key" where it is not ambiguous: of several runs of
// one study it is one plot of them all, curves named by run. Throws Error otherwise, with the nearest name.
Json plot_named(const Json& runs, const std::string& name);

}  // namespace isobar::report
