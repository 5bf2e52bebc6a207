// A record of the race: settings of train_lm, and what they gave on Tiny Shakespeare. One file of JSON each:
//
//   {"program": "train_lm", "flags": "--preset nanogpt_cpu --seed 1", "steps": 2000, "val_loss": 1.9049,
//    "hash": "97ad…", "train_s": 23.4, "train_cpu_s": 45.1, "load": 0.2, "date": "2026-11-26",
//    "environment": {"commit": "2ca2793a1b2c", "threads": 2, …}}
//
// The hash is of the trained weights. Seconds and processor seconds are those of the training alone; before it
// PyTorch may have taken compile_s.
#pragma once

#include <map>

#include "../harness/json.h"

namespace isobar::race {

// The loss that a setting must reach. nanoGPT's own setting reaches it in its 2000 steps.
inline constexpr double target = 1.91;

using Records = std::map<std::string, Json>;  // by name

// The records that travel inside the program: race/NAME.json. Those of PyTorch are from tests/bench/race.py.
const Records& shipped();
// Throws Error that begins with `who`: no JSON, a field that is missing or of another kind, unknown flags.
Json read_record(const std::string& text, const std::string& who);

// Trains by these flags of train_lm, in the folder runs/race, and makes the record. Its loss is the mean over
// 200 batches of 12 blocks of 64 tokens of the validation part, whatever the training takes; of a model that
// sees fewer tokens at once, its own. Throws Error for flags that are none of a setting.
Json run(const std::string& flags);

// A row for each record, the fastest first; then what the library gives and what the setting gives.
std::string table(const Records& records);
// Record and re-run side by side, and what differs.
std::string side_by_side(const Json& record, const Json& again);
// Whether steps, loss and hash are the same.
bool same(const Json& record, const Json& again);

}  // namespace isobar::race
