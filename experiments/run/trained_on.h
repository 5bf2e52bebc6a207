// TrainedOn: what the nets behind a study's values were and learned from. The study says it in its Program, and
// summary.json has it, with the settings of the run, for the judge.
//
//   .trained = {{.of = "start."},                                       // values with "start." in their key: no training
//               {.en = "{n_layer} blocks of width {n_embd}, {steps} steps on {corpus}, rate {learning_rate}",
//                .zh = "…"}},                                           // all others
#pragma once

#include <string>
#include <vector>

#include "json.h"

namespace isobar {

// The first entry whose `of` is part of a value's key is that value's; a value without an entry, or with an entry
// without sentences, needs no training. In each of them {name} is a setting of the run, {corpus} the text that it
// read, {digits} its images, and {data} whichever of the two it read.
struct TrainedOn {
  std::string of = {}, en = {}, zh = {};
};
// Of a study that trains no nets.
inline const std::vector<TrainedOn> trains_no_nets = {{}};

// Throws Error unless there is an entry, every {name} in it is a setting of `config`, or data, and every entry has both
// languages or none.
void check_trained(const std::vector<TrainedOn>& entries, const Json& config);

// Returns [{"of": "start.", "en": "", "zh": ""}, {"of": "", "en": "4 blocks of width 64, …", "zh": …}]: the entries
// that some value of the run's `summary` has, with its "config", "corpus" and data. Data are called by the name that a
// reader knows only if their checksums are those of the data that come with Isobar.
Json trained_json(const std::vector<TrainedOn>& entries, const Json& summary);

}  // namespace isobar
