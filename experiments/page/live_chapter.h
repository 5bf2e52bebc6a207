// The live chapter of a page: the eight-layer study, and a training of what_trains with its place on the map, run by the
// reader's browser (page/live/). A page has it where `isobar report --live` asks for it.
#pragma once

#include "../run/json.h"

namespace isobar::report {

// A run of decay_study as the chapter shows it beside its own: settings, bits, medians of each layer. Null for
// another study's, and for one without bits.
Json stored_run(const Json& summary);

// What a page allows its scripts for it, besides those that stand in it.
extern const char live_policy[];
// The chapter's scripts, style and module, and the claims that it judges.
std::string live_chapter(const Json& stored_runs);

}  // namespace isobar::report
